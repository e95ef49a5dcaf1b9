#!/usr/bin/env python3
"""A small game that writes its state as JSON, as many games do for their own debugging.

Two machines play the same 600 frames. On the second one the wind is computed with another
rounding from frame 410 on, which is the desync. Run it in this folder to write the dumps again:

    python3 skirmish.py
"""
import json
import os


def play(peer, clock):
    seed = 12345

    def draw(n):
        nonlocal seed
        seed = (seed * 1103515245 + 12345) % 2**31
        return seed // 65536 % n

    units = [
        {"id": 100 + i, "kind": ["archer", "rider", "ram"][i % 3], "team": i % 2,
         "pos": {"x": draw(800) / 10, "y": draw(600) / 10}, "hp": 100, "target": None, "orders": []}
        for i in range(12)
    ]
    wind = 1.5
    for frame in range(601):
        if frame % 100 == 0:
            os.makedirs(peer, exist_ok=True)
            with open(f"{peer}/frame_{frame:04d}.json", "w") as f:
                json.dump({"frame": frame, "saved_at": clock + frame / 30, "rng": {"seed": seed}, "wind": wind, "units": units}, f, indent=1)
                f.write("\n")
        wind = wind + (draw(100) - 50) / 64
        if peer == "client" and frame >= 410:
            wind = round(wind, 2)
        for u in units:
            enemy = units[draw(len(units))]
            u["pos"]["x"] += (draw(21) - 10) / 8
            u["pos"]["y"] += (draw(21) - 10) / 8
            if u["kind"] == "archer":
                u["pos"]["x"] += wind / 16
            if frame % 60 == 0:
                u["orders"] = [draw(9) for _ in range(draw(3))]
            if enemy["team"] != u["team"] and enemy["hp"] > 0 and abs(enemy["pos"]["x"] - u["pos"]["x"]) < 6:
                u["target"] = enemy["id"]
                enemy["hp"] -= 1


play("host", 1700000000.25)
play("client", 1700000003.5)
