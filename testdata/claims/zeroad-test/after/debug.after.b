rng: "238182952245423"
entities:
- id: 1
  Timer:
    comp: {
  "id": 0,
  "time": 3400,
  "timers": {}
}

- id: 35
  Position:
    in world: true
    x: 128.4557
  Health:
    comp: {
  "maxHitpoints": 156.25,
  "hitpoints": 87.59530602072097
}

