"""What somebody would write in an afternoon: FastAPI, the torch batch encoder, scikit-learn's SVC.

Every window of a request is cut out, normalised, encoded and classified; the answer has the form of ours.
"""

import argparse

import numpy as np
import uvicorn
from fastapi import FastAPI, Request
from sklearn.svm import SVC

from service.settings import add_settings, settings
from streaming.agc import normalise
from streaming.bundle import load_bundle
from streaming.pipeline import choose_head


def create_app(model: str) -> FastAPI:
    """The endpoint of one bundle's live head."""
    bundle = load_bundle(model)
    head = choose_head(bundle, "", "live")
    vectors = head.vectors.astype(np.float64)
    of_class = np.repeat(np.arange(len(head.classes)), head.counts)
    # Fitted to the head's own support vectors with a large C, so that it evaluates about as many of them.
    machine = SVC(C=1e3, gamma=head.gamma, kernel=head.kernel).fit(vectors, of_class)
    app = FastAPI()

    @app.get("/v1/health")
    def health() -> dict[str, str]:
        return {"status": "ok"}

    @app.post("/v1/predict")
    async def predict(request: Request) -> dict[str, object]:
        samples = np.frombuffer(await request.body(), np.complex64)
        windows = np.lib.stride_tricks.sliding_window_view(samples, head.window)[:: head.hop]
        embeddings = bundle.encoder.encode(normalise(np.ascontiguousarray(windows)))
        chosen = machine.predict((embeddings - head.mean) / head.scale)
        labels = [head.classes[index] for index in chosen.tolist()]
        return {"windows": [{"start": i * head.hop, "label": label} for i, label in enumerate(labels)]}

    return app


def main() -> None:
    """Serve until stopped."""
    parser = argparse.ArgumentParser()
    add_settings(parser, "model", "port", "data")
    args = parser.parse_args()
    values = settings(args)
    config = uvicorn.Config(create_app(values.model), host="127.0.0.1", port=values.port, log_level="error")
    listener = config.bind_socket()
    print(f"plain: http://127.0.0.1:{listener.getsockname()[1]}/", flush=True)
    uvicorn.Server(config).run([listener])


if __name__ == "__main__":
    main()
