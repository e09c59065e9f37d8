; World `cellar` of world.tw, written by `tw export --pddl`.
(define (domain cellar)
  (:requirements :strips :typing :equality :negative-preconditions :disjunctive-preconditions :existential-preconditions :conditional-effects)
  (:types
    room thing hero - object
    key - thing
    door - object
    chest - thing
    lock - object)
  (:constants
    hero - hero
    open closed locked - lock)
  (:predicates
    (thing-at ?self - thing ?room - room)
    (holder ?self - thing ?hero - hero)
    (hero-at ?self - hero ?room - room)
    (near ?self - door ?room - room)
    (far ?self - door ?room - room)
    (door-state ?self - door ?lock - lock)
    (chest-state ?self - chest ?lock - lock)
    (opened_by ?self - chest ?key - key)
    (inside ?self - chest ?thing - thing)
    (is-chest ?x))

  (:action take
    :parameters (?it - thing ?room - room)
    :precondition (and
      (not (is-chest ?it))
      (not (holder ?it hero))
      (thing-at ?it ?room)
      (hero-at hero ?room))
    :effect (and
      (forall (?hero - hero)
        (when (and (holder ?it ?hero) (not (= ?hero hero)))
          (not (holder ?it ?hero))))
      (holder ?it hero)
      (not (thing-at ?it ?room))))

  (:action unlock
    :parameters (?c - chest ?k - key)
    :precondition (and
      (or
        (exists (?room - room) (and (thing-at ?c ?room) (hero-at hero ?room)))
        (holder ?c hero))
      (holder ?k hero)
      (chest-state ?c locked)
      (opened_by ?c ?k))
    :effect (and
      (not (chest-state ?c locked))
      (chest-state ?c closed)))

  (:action open
    :parameters (?c - chest)
    :precondition (and
      (or
        (exists (?room - room) (and (thing-at ?c ?room) (hero-at hero ?room)))
        (holder ?c hero))
      (not (chest-state ?c locked))
      (chest-state ?c closed))
    :effect (and
      (not (chest-state ?c closed))
      (chest-state ?c open)
      (forall (?it - thing ?room - room)
        (and
          (when (and
                  (inside ?c ?it)
                  (thing-at ?it ?room)
                  (not (hero-at hero ?room)))
            (not (thing-at ?it ?room)))
          (when (and (inside ?c ?it) (hero-at hero ?room))
            (thing-at ?it ?room))))
      (forall (?thing - thing)
        (when (inside ?c ?thing) (not (inside ?c ?thing))))))

  (:action go
    :parameters (?d - door ?room - room)
    :precondition (and
      (hero-at hero ?room)
      (or (near ?d ?room) (far ?d ?room))
      (door-state ?d open))
    :effect (and
      (when (and (near ?d ?room) (not (far ?d ?room)))
        (not (hero-at hero ?room)))
      (forall (?room2 - room)
        (when (and (near ?d ?room) (far ?d ?room2)) (hero-at hero ?room2)))
      (when (not (near ?d ?room)) (not (hero-at hero ?room)))
      (forall (?room2 - room)
        (when (and (not (near ?d ?room)) (near ?d ?room2))
          (hero-at hero ?room2))))))
