"""The catalogue of peers: every solver the benchmark knows, for one set and loss."""

import peer_liblinear
import peer_scipy
import peer_sklearn
import peer_snapml
import peer_vw

SOURCES = {
    "liblinear": peer_liblinear.peers,
    "snapml": peer_snapml.peers,
    "sklearn": peer_sklearn.peers,
    "scipy": peer_scipy.peers,
    "vw": peer_vw.peers,
}
PACKAGES = ("liblinear-official", "snapml", "scikit-learn", "scipy", "vowpalwabbit", "numpy")


def build(data, loss, sources):
    return [peer for name in sources for peer in SOURCES[name](data, loss)]
