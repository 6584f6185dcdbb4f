/**
 * A case for each condition of I17: what two requests hold is not the same hardware; and of the part of S5 that forbids
 * to program it under a guest.
 */
import type { HostStep } from '../../../src/audit/evidence.ts'
import { onHost, trace } from './hosts.ts'
import { type Case, deployable, described, granted, here, of, order, recorded, released } from './scene.ts'

const address = (fn: number) => ({ domain: '0000', bus: '18', device: '00', function: String(fn) })
const whole = { uuid: 'h1', info: address(0) }
const half = (uuid: string, fn: number) => ({ uuid, info: address(fn), physfn: '0000:18:00.0' })
const of1 = (...handles: readonly object[]) => deployable('d1', recorded({ description: described(handles) }))
const of2 = (host: string, ...handles: readonly object[]) =>
  deployable('d2', recorded({ description: described(handles) }, { uuid: 'd2', rpUuid: 'rp2', host }))
const found = (rowCount: number, uuid: string, handle: string, other: string) => [
  here(rowCount, [`deployable/${uuid}`], `handle ${handle} is held, and so is ${other}: the same hardware`),
]
const both = [deployable('d1', granted()), deployable('d2', granted('h2', 'a2'))] as const

const programmedBeside = (beside: readonly string[]): HostStep => ({ did: 'program', slot: 'h1', number: 2, beside })
const programmings: readonly Case[] = [
  ['S5', 'nothing else of it is prepared', trace(programmedBeside([])), []],
  [
    'S5',
    'another slot of it is prepared',
    trace(programmedBeside(['h2', 'h3'])),
    [onHost(programmedBeside(['h2', 'h3']), 'program of h1 by order 2, while prepared: h2, h3')],
  ],
]

export const hardwareCases: readonly Case[] = [
  ...programmings,
  ['I17', 'two functions', of(of1(whole), of2('host1', { uuid: 'h2', info: address(1) }), ...both), []],
  [
    'I17',
    'one function under two handles',
    of(of1(whole), of2('host1', { uuid: 'h2', info: { ...address(0), physical_network: 'net0' } }), ...both),
    found(4, 'd2', 'h2', 'h1'),
  ],
  ['I17', 'the same address on two hosts', of(of1(whole), of2('host2', { uuid: 'h2', info: address(0) }), ...both), []],
  [
    'I17',
    'a virtual function while the physical one is held',
    of(of1(whole), of2('host1', half('h2', 1)), ...both),
    found(4, 'd2', 'h2', 'h1'),
  ],
  [
    'I17',
    'the physical function while a virtual one is held',
    of(of1(whole), of2('host1', half('h2', 1)), ...both.toReversed()),
    found(4, 'd1', 'h1', 'h2'),
  ],
  [
    'I17',
    'two virtual functions of one physical function',
    of(of1(half('h1', 1)), of2('host1', half('h2', 2)), ...both),
    [],
  ],
  [
    'I17',
    'a virtual function after the physical one was given back',
    of(of1(whole), of2('host1', half('h2', 1)), both[0], deployable('d1', released()), both[1]),
    [],
  ],
  [
    'I17',
    'the physical function after the virtual one was given back',
    of(
      of1(whole),
      of2('host1', half('h2', 1)),
      both[1],
      deployable('d2', released('h2', 'a2', order('h2', 1))),
      both[0],
    ),
    [],
  ],
  [
    'I17',
    'a virtual function in the append that gives the physical one back',
    of(of1(whole), of2('host1', half('h2', 1)), both[0], [both[1], deployable('d1', released())]),
    [],
  ],
  [
    'I17',
    'a report says of two handles that are held that they are the same',
    of(
      of1(whole),
      of2('host1', { uuid: 'h2', info: address(1) }),
      ...both,
      deployable('d2', { type: 'DeployableDescribed', description: described([half('h2', 1)]) }),
    ),
    found(5, 'd2', 'h2', 'h1'),
  ],
]
