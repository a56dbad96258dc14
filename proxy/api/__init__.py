"""HTTP routes: one router per noun."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.routing import Route

from proxy.api import (
    agents,
    dashboard,
    errors,
    forgetting,
    links,
    memories,
    memory_lists,
    openapi,
    operator,
    ops,
    projects,
    quarantine,
    receipts,
    reviews,
    sessions,
    shown,
    state,
    tasks,
    teams,
    transfer,
)
from proxy.api.chat import Completions
from proxy.api.edge import Cors, Edge
from proxy.api.files import Files
from proxy.api.manager import ROUTERS
from proxy.api.mcp.endpoint import Endpoint
from proxy.api.models import Models
from proxy.api.passthrough import Passthrough
from proxy.dialects import chat, messages, responses
from proxy.services import Services

_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]


def wrap(app: FastAPI) -> None:
    """Add the middleware of all routes; call it before the application starts."""
    app.add_middleware(Cors)
    app.add_middleware(Edge)
    errors.install(app)


def install(app: FastAPI, services: Services) -> None:
    """Add every route; the chat first, as it has the most requests."""
    app.state.services = services
    completions = Route("/v1/chat/completions", Completions(services, chat, "/chat/completions"), methods=["POST"])
    app.router.routes.insert(0, completions)
    replies = Route("/v1/responses", Completions(services, responses, "/responses"), methods=["POST"])
    app.router.routes.insert(1, replies)
    conversations = Route("/v1/messages", Completions(services, messages, "/messages"), methods=["POST"])
    app.router.routes.insert(2, conversations)
    for module in (ops, memory_lists, memories, receipts, sessions, shown, state, transfer):
        app.include_router(module.router)
    for module in (agents, forgetting, links, openapi, operator, projects, quarantine, reviews, tasks, teams):
        app.include_router(module.router)
    dashboard.install(app)
    for router in ROUTERS:
        app.include_router(router)
    passthrough = Passthrough(services)
    for path in ("/v1/models", "/v1/models/{name:path}"):
        app.router.routes.append(Route(path, Models(services, passthrough), methods=["GET"]))
    for path in ("/v1/files", "/v1/files/{rest:path}"):
        app.router.routes.append(Route(path, Files(services, passthrough), methods=_METHODS))
    app.router.routes.append(Route("/mcp", Endpoint(app, services), methods=["GET", "POST", "DELETE"]))
    app.router.routes.append(Route(errors.PASSED_ON, passthrough, methods=_METHODS))
