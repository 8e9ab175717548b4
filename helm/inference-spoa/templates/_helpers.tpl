{{- define "inference-spoa.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* At most 40 characters, so that what is put behind it fits. */}}
{{- define "inference-spoa.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else }}
{{- $name := include "inference-spoa.name" . }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "inference-spoa.selector" -}}
app.kubernetes.io/name: {{ include "inference-spoa.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "inference-spoa.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "inference-spoa.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: inference-spoa
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "inference-spoa.image" -}}
{{- if .Values.image.digest }}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{- define "inference-spoa.policy" -}}
{{- default (printf "%s-policy" (include "inference-spoa.fullname" .)) .Values.existingPolicy }}
{{- end }}

{{- define "inference-spoa.redisSecret" -}}
{{- default (printf "%s-redis" (include "inference-spoa.fullname" .)) .Values.redis.existingSecret }}
{{- end }}

{{- define "inference-spoa.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "inference-spoa.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{/* The SPOE file: one of ours, or the operator's own. */}}
{{- define "inference-spoa.spoe" -}}
{{- if .Values.haproxy.spoe }}
{{- .Values.haproxy.spoe }}
{{- else }}
{{- $file := ternary "files/spoe.cfg" "files/spoe-3.cfg" (semverCompare "<3.0" (printf "%s.0" .Values.haproxy.version)) }}
{{- .Files.Get $file | replace "processing 50ms" (printf "processing %s" .Values.haproxy.processingTimeout) }}
{{- end }}
{{- end }}

{{/* What nobody needs rights for. */}}
{{- define "inference-spoa.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
capabilities:
  drop: [ALL]
seccompProfile:
  type: RuntimeDefault
{{- end }}
