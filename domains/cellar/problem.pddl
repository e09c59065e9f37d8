; World `cellar` of world.tw, written by `tw export --pddl`.
(define (problem cellar)
  (:domain cellar)
  (:objects
    stairs vault - room
    brass_key iron_key - key
    ruby - thing
    oak_chest - chest
    arch - door)
  (:init
    (thing-at brass_key stairs)
    (thing-at iron_key stairs)
    (thing-at oak_chest vault)
    (hero-at hero stairs)
    (near arch stairs)
    (far arch vault)
    (door-state arch open)
    (chest-state oak_chest locked)
    (opened_by oak_chest brass_key)
    (inside oak_chest ruby)
    (is-chest oak_chest))
  (:goal (holder ruby hero)))
