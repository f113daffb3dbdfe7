// The service's own OpenAPI document; nothing is sent to a validator elsewhere.
SwaggerUIBundle({
    url: "openapi.json",
    dom_id: "#api",
    validatorUrl: null,
    deepLinking: true,
    tryItOutEnabled: true,
    defaultModelsExpandDepth: 0,
});
