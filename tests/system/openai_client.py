"""openai_client.py - the official OpenAI client against HAProxy, the agent and simulated engines.

The client is what is looked at here: what its users see. Called by openai_client.sh with the base
URL through HAProxy, the base URL of an engine, and its model; the policy lets one request run on
each of the two engines, and refuses unknown models.
"""
import json
import sys

import openai

base, direct, model = sys.argv[1:4]
client = openai.OpenAI(base_url=base, api_key="test-key", max_retries=0, timeout=20)
engine = openai.OpenAI(base_url=direct, api_key="test-key", max_retries=0, timeout=20)
hello = [{"role": "user", "content": "hello " * 40}]
done = []


def ok(sentence, holds, seen=None):
    if not holds:
        sys.exit(f"FAILED: {sentence}; seen: {seen!r}")
    done.append(sentence)


def refused(kind, call):
    try:
        call()
    except kind as error:
        return error
    except Exception as error:
        sys.exit(f"FAILED: expected {kind.__name__}, not {error!r}")
    sys.exit(f"FAILED: expected {kind.__name__}, not an answer")


def ask(who=client, **more):
    return who.chat.completions.create(**{"model": model, "messages": hello, "max_tokens": 8, **more})


# Models: one list for all engines.
ids = [entry.id for entry in client.models.list()]
ok("models.list() has the engines' model once", ids.count(model) == 1, ids)

# A whole answer.
raw = client.chat.completions.with_raw_response.create(model=model, messages=hello, max_tokens=8)
answer = raw.parse()
ok("a whole answer has text", bool(answer.choices[0].message.content), answer)
ok("a whole answer has usage", answer.usage.completion_tokens == 8, answer.usage)
ok("a whole answer has x-request-id", len(raw.headers.get("x-request-id", "")) > 8, raw.headers)
ok("the client shows it as _request_id", answer._request_id == raw.headers["x-request-id"], answer._request_id)

# A stream, usage in its last chunk.
chunks = list(ask(stream=True, stream_options={"include_usage": True}))
text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
ok("a stream has text", len(text) >= 8, text)
ok("a stream ends with usage", chunks[-1].usage and chunks[-1].usage.completion_tokens == 8, chunks[-1])

# Completions and embeddings take the same way.
ok("completions answer", bool(client.completions.create(model=model, prompt="hello", max_tokens=4).choices[0].text))
vector = client.embeddings.create(model=model, input="hello", encoding_format="float").data[0].embedding
ok("embeddings answer", len(vector) > 0)

# An engine's own refusal passes as it came.
fault = {"extra_headers": {"x-sim-fault": "400"}}
ours = refused(openai.BadRequestError, lambda: ask(**fault))
own = refused(openai.BadRequestError, lambda: ask(engine, **fault))
ok("an engine's 400 has its body unchanged", ours.response.content == own.response.content, ours.response.content)
ok("an engine's 400 has x-request-id", bool(ours.request_id), ours.response.headers)

# A model nobody serves.
error = refused(openai.NotFoundError, lambda: ask(model="nobody-serves-this"))
ok("an unknown model is model_not_found", error.code == "model_not_found" and error.param == "model", error.body)
ok("an unknown model is not tried again", error.response.headers.get("x-should-retry") == "false")

# Both engines busy: a refusal at once, which the client can read.
busy = [ask(stream=True, max_tokens=4000, extra_body={"min_tokens": 4000}) for _ in range(2)]
for stream in busy:
    next(iter(stream))
error = refused(openai.RateLimitError, ask)
headers, whole = error.response.headers, json.loads(error.response.content)
ok("429 has retry-after from 1 to 120", 1 <= int(headers["retry-after"]) <= 120, headers)
ok("429 has x-should-retry", headers["x-should-retry"] == "true", headers)
ok("429 has x-request-id", bool(error.request_id), headers)
ok("429 is JSON with one error object", list(whole) == ["error"] and "error" not in whole["error"], whole)
ok("429 names its type", error.type == "rate_limit_exceeded" and isinstance(error.code, str), whole)
error = refused(openai.RateLimitError, lambda: client.post("/messages", cast_to=object, body={
    "model": model, "max_tokens": 8, "messages": hello}))
whole = json.loads(error.response.content)
ok("on /v1/messages it has Anthropic's shape", whole["type"] == "error" and
   whole["error"]["type"] in ("rate_limit_error", "overloaded_error") and "code" not in whole["error"], whole)
patient = client.with_options(max_retries=8)
for stream in busy:
    stream.close()
ok("a client with retries gets its answer when there is room", bool(ask(patient).choices))

print(f"openai {openai.__version__}: {len(done)} things seen, the last refusal {headers['retry-after']} s")
