"""Which random programs a test runs."""


def choose_seeds(features, count, wanted=None):
    """Few seeds that have every wanted feature (by default all that any seed has), then the first
    ones, `count` in all. features: seed -> its features."""
    missing, seeds = set(wanted or set().union(*features.values())), []
    while missing:
        seeds.append(max(features, key=lambda seed: len(features[seed] & missing)))
        missing -= features[seeds[-1]]
    return (seeds + [seed for seed in features if seed not in seeds])[:count]
