"""A process that speaks JSON lines, as one in another language would: CartPole."""

import json
import sys
import time

from tests.verify.cartpole import HIGH, Cart


def answer(cart: Cart, request: dict[str, object]) -> dict[str, object]:
    match request["method"]:
        case "spaces":
            box = {"type": "Box", "low": (-HIGH).tolist(), "high": HIGH.tolist(), "shape": [4]}
            return {
                "observation": {**box, "dtype": "float32"},
                "action": {"type": "Discrete", "n": 2},
                "offers": ["state"],
            }
        case "reset":
            obs, info = cart.reset(seed=request["seed"])  # type: ignore[arg-type]
            return {"obs": obs.tolist(), "info": info}
        case "step":
            obs, reward, terminated, truncated, info = cart.step(request["action"])
            ends = {"terminated": terminated, "truncated": truncated}
            return {"obs": obs.tolist(), "reward": reward, **ends, "info": info}
        case "get_state":
            state = cart.get_state()
            return {"value": {name: value.tolist() for name, value in state.items()}}
        case "set_state":
            return {"value": cart.set_state(request["state"]).tolist()}
    return {"error": f"no method {request['method']}"}


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    cart, mood = Cart(), sys.argv[1] if len(sys.argv) > 1 else ""
    for line in sys.stdin:
        request = json.loads(line)
        if request["method"] == "close":
            break
        if mood and request["method"] == "step":
            if mood == "hang":
                time.sleep(60)
            if mood == "die":
                sys.exit(3)
            if mood == "mumble":
                say("hm")
                continue
            if mood == "raise" and cart.steps == 2:
                say(json.dumps({"error": "OverflowError: too far"}))
                continue
        say(json.dumps(answer(cart, request)))


if __name__ == "__main__":
    main()
