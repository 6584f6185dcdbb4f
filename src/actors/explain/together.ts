/**
 * Decides whether the devices of one host can serve all groups of a profile at the same time. Groups may share a
 * device. Pure.
 */
import type { DeployableTree } from '../deployable/giver.ts'
import { type RequestedGroup, grantAll } from './judge.ts'

/** For each group, the index of its device. */
export type Ways = readonly number[]
export type Question = {
  readonly groups: number
  readonly devices: number
  readonly allowed: (group: number, device: number) => boolean
  /** How much of the device's room the group takes. */
  readonly takes: (group: number, device: number) => number
  readonly room: (device: number) => number
  readonly accepted: (ways: Ways) => boolean
}

/** After this many steps the search gives up, because distributing groups over devices is a packing problem. */
const STEPS_MAX = 2000
/** At most this many complete assignments are tried, because each attempt makes the grants of all requests. */
const TRIED_MAX = 64

/** An assignment that `accepted` confirms; null: none was found. */
export const findWay = ({ groups, devices, allowed, takes, room, accepted }: Question): Ways | null => {
  const left = Array.from({ length: devices }, (_, device) => room(device))
  let [steps, tried] = [0, 0]
  const isOver = () => steps > STEPS_MAX || tried >= TRIED_MAX
  const search = (ways: Ways): Ways | null => {
    const group = ways.length
    if (group === groups) return ((tried += 1), accepted(ways) ? ways : null)
    for (let device = 0; device < devices && !isOver(); device++) {
      steps += 1
      const amount = takes(group, device)
      if (left[device]! < amount || !allowed(group, device)) continue
      left[device]! -= amount
      const found = search([...ways, device])
      left[device]! += amount
      if (found) return found
    }
    return null
  }
  return search([])
}

/**
 * Whether a bind would accept the requests of all groups, each on its device. The requests of one device are granted as
 * mates.
 */
export const bindTakes = (groups: readonly RequestedGroup[], devices: readonly DeployableTree[], ways: Ways): boolean =>
  devices.every((tree, device) => {
    const here = groups.filter((_, group) => ways[group] === device)
    const mates = here.flatMap(({ arqs }) => arqs)
    const wishes = here.flatMap(({ arqs, imageFor }) => {
      const image = imageFor(tree.root)
      return arqs.map((arq) => ({ arq, mates, bitstream: 'refusal' in image ? null : image.bitstream }))
    })
    return grantAll(tree, wishes).ok
  })
