{{/* The pod of an agent in deployment mode. */}}
{{- define "inference-spoa.podspec" -}}
serviceAccountName: {{ include "inference-spoa.serviceAccount" . }}
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile:
    type: RuntimeDefault
containers:
  - name: inference-spoa
    image: {{ include "inference-spoa.image" . | quote }}
    imagePullPolicy: {{ .Values.image.pullPolicy }}
    args:
      - run
      - --policy=/etc/inference-spoa/policy/policy.json
      - --watch-policy
      - --on-bad-policy=defaults
      - --log-listen=0.0.0.0:{{ .Values.ports.log }}
      - --admin=0.0.0.0:{{ .Values.ports.admin }}
      {{- range $h, $socket := .Values.haproxy.sockets }}
      - --haproxy={{ $socket }}
      - --spop=0.0.0.0:{{ add $.Values.ports.spop $h }}
      {{- end }}
    envFrom:
      - configMapRef:
          name: {{ include "inference-spoa.fullname" . }}-options
    ports:
      {{- range $h, $socket := .Values.haproxy.sockets }}
      - name: spop-{{ $h }}
        containerPort: {{ add $.Values.ports.spop $h }}
      {{- end }}
      - name: infer-log
        containerPort: {{ .Values.ports.log }}
      - name: infer-log-udp
        containerPort: {{ .Values.ports.log }}
        protocol: UDP
      - name: infer-admin
        containerPort: {{ .Values.ports.admin }}
    startupProbe:
      httpGet:
        path: /readyz
        port: infer-admin
      periodSeconds: 1
      failureThreshold: 30
    readinessProbe:
      httpGet:
        path: /readyz
        port: infer-admin
      periodSeconds: 2
      failureThreshold: 2
    livenessProbe:
      httpGet:
        path: /healthz
        port: infer-admin
      periodSeconds: 10
      failureThreshold: 3
    securityContext:
      {{- include "inference-spoa.containerSecurity" . | nindent 6 }}
    resources:
      {{- toYaml .Values.resources | nindent 6 }}
    volumeMounts:
      - name: policy
        mountPath: /etc/inference-spoa/policy
        readOnly: true
      {{- if .Values.redis.existingSecret }}
      - name: redis
        mountPath: /etc/inference-spoa/redis
        readOnly: true
      {{- end }}
volumes:
  - name: policy
    configMap:
      name: {{ include "inference-spoa.policy" . }}
  {{- if .Values.redis.existingSecret }}
  - name: redis
    secret:
      secretName: {{ include "inference-spoa.redisSecret" . }}
  {{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
affinity:
  {{- if .Values.affinity }}
  {{- toYaml .Values.affinity | nindent 2 }}
  {{- else }}
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels:
              {{- include "inference-spoa.selector" . | nindent 14 }}
  {{- end }}
{{- with .Values.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
