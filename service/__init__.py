"""How people and programs reach it: REST, WebSocket, dashboard, history, command line."""
