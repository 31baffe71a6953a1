"""The server: LibreTranslate's API and our own over HTTP, for several models at once.

A request passes `web` (its route and body), one of the `dialects` (what is asked), `service` (texts
into sentences and back) and `dispatcher` (sentences of all clients to the engine's threads). Only
`web`, `dialects` and `run` know Starlette and uvicorn, only `telemetry` knows Prometheus.
"""
