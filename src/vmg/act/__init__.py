"""Acting: policy, tasks, evaluation, baselines."""
