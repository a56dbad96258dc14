"""The same memory for MCP clients: tools that call Throughline's HTTP API, over HTTP at ``/mcp`` or over stdio.

Open first: ``tools``. Imports: api's caller, pipeline's admission and below.
"""
