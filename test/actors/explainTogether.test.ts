/** How groups are spread over the devices of a host, and how all hosts are summed up in one explanation. */
import { expect, test } from 'vitest'
import type { Deployable } from '../../src/actors/deployable/state.ts'
import { judgeHost } from '../../src/actors/explain/host.ts'
import { summarised } from '../../src/actors/explain/summary.ts'
import { findWay } from '../../src/actors/explain/together.ts'
import type { Fact } from '../audit/cases/scene.ts'
import { FPGA, UP, asks, attributes, board, factsOf, obstacles } from './explained.ts'

test('groups find their devices, each with room for all that it takes', () => {
  const question = {
    groups: 2,
    devices: 2,
    allowed: () => true,
    takes: () => 1,
    room: () => 2,
    accepted: () => true,
  }
  expect(findWay(question)).toEqual([0, 0])
  expect(findWay({ ...question, room: () => 1 })).toEqual([0, 1])
  expect(findWay({ ...question, allowed: (group, device) => group === device })).toEqual([0, 1])
  expect(findWay({ ...question, accepted: ([one, two]) => one! > two! })).toEqual([1, 0])
  expect(findWay({ ...question, room: (device) => device })).toEqual(null)
  let tried = 0
  const never = { ...question, groups: 7, room: () => 7, accepted: () => (tried++, false) }
  expect([findWay(never), tried]).toEqual([null, 64])
})

test('all hosts are summed up, with the nearest device of each group', () => {
  const trait = { ...FPGA, 'accel:any_of': 'x' }
  const asked = [asks(trait, ['x1', 'x2']), asks({ 'resources:NIC': '1' })]
  const judged = (name: string, ...devices: readonly Deployable[]) =>
    judgeHost(asked, { ...factsOf(devices), name, host: { ...UP, name } })
  const nic = { attributes: attributes('NIC') }
  const gone: Fact = { type: 'PresenceSet', presence: 'missing' }
  const off: Fact = { type: 'StatusSet', status: 'maintaining' }
  const hosts = [
    judged('h1', board('a', nic, gone, off), board('b')),
    judged('h2', board('c', nic, gone)),
    judged('h3', board('d', nic, off)),
  ]
  const said = summarised(asked, hosts, 'not_configured', 2)
  expect(said).toEqual({
    fits: false,
    hostsChecked: 3,
    devicesChecked: 4,
    hostsFitting: 0,
    placement: 'not_configured',
    groups: [
      {
        group: 0,
        arqs: 2,
        devices: 1,
        removed: { resource_class: 3, device_missing: 2, device_disabled: 2 },
        nearest: null,
      },
      {
        group: 1,
        arqs: 1,
        devices: 0,
        removed: { device_missing: 2, device_disabled: 2, resource_class: 1 },
        nearest: {
          host: 'h2',
          deployable: 'uuid c',
          name: 'c',
          obstacles: obstacles(['device_missing', 'its device is missing', 'bind']),
        },
      },
    ],
    warnings: [
      {
        code: 'alternatives_not_read',
        group: 0,
        reason:
          'group 0 has accel:any_of, which neither Nova nor this service reads: it asks for the rest of the group',
        change:
          'ask in one group for what the alternatives have in common (a resource class, traits), or make a device profile and a flavor for each of them',
      },
    ],
    hosts: hosts.slice(0, 2).map(({ shown }) => shown),
    hostsLeftOut: 1,
  })
  expect(summarised(asked, hosts, 'asked', 3).hostsLeftOut).toBe(0)
  const fitting = summarised([asks(FPGA)], [judgeHost([asks(FPGA)], factsOf([board('a')]))], 'asked', 1)
  expect([fitting.fits, fitting.hostsFitting, fitting.groups[0]!.nearest]).toEqual([true, 1, null])
})
