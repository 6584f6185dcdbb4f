/** Why a reported device cannot be recorded, word for word, at each limit; its tree; whether it is the same card. */
import { describe, expect, test } from 'vitest'
import { cardByText, likeness } from '../../src/card.ts'
import { isVirtual, unfit } from '../../src/actors/inventory/rivalry.ts'
import { treeOf, treeProblem } from '../../src/actors/inventory/trees.ts'
import type { DeviceFacts } from '../../src/actors/device/decider.ts'
import type { ReportedDeployable, ReportedDevice } from '../../src/hardware.ts'
import { card, part, slot } from './cards.ts'

const of = (...deployables: readonly ReportedDeployable[]): ReportedDevice => card(1, { deployables })
const fn = (n: number, more: object = {}) => ({ type: 'PCI' as const, info: slot(1, n), ...more })
const node = (name: string, parent?: string, more: Partial<ReportedDeployable> = {}): ReportedDeployable => ({
  ...part(name, { handles: [], numAccelerators: 0 }),
  ...(parent === undefined ? {} : { parent, attributes: [] }),
  ...more,
})
/** `n0` is the root; each of the others is below the one before it. */
const chain = (length: number) => Array.from({ length }, (_, at) => node(`n${at}`, at === 0 ? undefined : `n${at - 1}`))
const withAttributes = (...attributes: ReportedDeployable['attributes']) =>
  of(part('r', { attributes: [{ key: 'rc', value: 'FPGA' }, ...attributes] }))
const nested = (depth: number) =>
  Array.from({ length: depth }, (_, at) => ({ key: `k${at}`, value: '', ...(at > 0 ? { parent: at } : {}) }))

describe('a reported device', () => {
  test.each<[string, ReportedDevice]>([
    ['with one deployable', card(1)],
    ['whose deployable has a name of 200 characters', of(part('x'.repeat(200)))],
    ['whose deployable below another one has no class', of(node('r'), node('a', 'r'))],
    ['with a physical function in any spelling', of(part('r', { handles: [fn(1, { physfn: '0000:3B:00.0' })] }))],
    ['with text beyond ASCII in what is only shown', card(1, { stdBoardInfo: '{"maker": "Höchst\u200b"}' })],
    ['with names beyond ASCII', card(1, { vendor: 'Höchst' })],
    ['with an escaped quote in a name', card(1, { model: 'a "b" \\ c' })],
    ['with a free text in an attribute of its own', withAttributes({ key: 'site', value: 'a\u200b' })],
    ['with a tree of 17 levels', of(...chain(17))],
    ['with attributes of 8 levels', withAttributes(...nested(8))],
    ['with the same key in two places', withAttributes({ key: 'a', value: '' }, { key: 'a', value: '', parent: 1 })],
    [
      'whose handles are made on demand, however many it counts',
      of(
        node('r', undefined, { numAccelerators: 9 }),
        node('a', 'r', { handles: [{ type: 'MDEV', info: slot(1, 1) }] }),
      ),
    ],
    [
      'whose pairs of functions are one accelerator each',
      of(
        node('r', undefined, { numAccelerators: 3 }),
        node('a', 'r', { handles: [fn(1, { set: 0 }), fn(2, { set: 0 }), fn(3, { set: 1 }), fn(4)] }),
      ),
    ],
  ])('%s is recorded', (_, device) => expect(unfit('some_driver', device)).toBe(null))

  const odd = (what: string, held = 'an invisible format character (U+200B)') => `${what}: it holds ${held}`
  const NOT_STORABLE = 'text with a NUL or with half a character'
  test.each<[string, ReportedDevice, string]>([
    ['with a NUL', card(1, { model: 'a\0b' }), NOT_STORABLE],
    ['with half a character', card(1, { vendorBoardInfo: '\ud83d' }), NOT_STORABLE],
    ['with an invisible character in its vendor', card(1, { vendor: 'a\u200b' }), odd('vendor')],
    ['in its model', card(1, { model: 'a\u200b' }), odd('model')],
    ['a line break in its model', card(1, { model: 'a\nb' }), odd('model', 'a control character (U+000A)')],
    ['in a name of a deployable', of(part('r\u200b')), odd('deployable name')],
    ['in the name of a parent', of(node('r'), node('a', 'r\u200b')), odd('name of a parent')],
    ['in the name of a driver', of(part('r', { driverName: 'd\u200b' })), odd('driver name')],
    ['in an image', of(part('r', { bitstreamId: 'i\u200b' })), odd('bitstream id')],
    ['in the key of an attribute', withAttributes({ key: 'k\u200b', value: '' }), odd('attribute key')],
    ['in the name of a trait', withAttributes({ key: 'trait0', value: 'T\u200b' }), odd('attribute trait0')],
    [
      'in what is attached',
      of(part('r', { handles: [fn(1, { info: { bus: 'b\u200b' } })] })),
      odd('attach handle info'),
    ],
    [
      'whose deployable has a name of 201 characters',
      of(part('x'.repeat(201))),
      'deployable name of 201 characters, at most 200 are allowed',
    ],
    [
      'without a class',
      of(part('r', { attributes: [{ key: 'trait0', value: 'A' }] })),
      'deployable r needs an attribute rc',
    ],
    [
      'with a physical function that is none',
      of(part('r', { handles: [fn(1), fn(2, { physfn: 'pf0' }), fn(3, { physfn: 'pf1' })] })),
      "deployable r names a physical function 'pf0', which is not a PCI address",
    ],
    ['that shows a name twice', of(part('a'), part('b'), part('b'), part('a')), 'deployable name b is shown twice'],
    [
      'that attaches a function twice',
      of(part('r', { handles: [fn(1), fn(2), fn(1)] })),
      'its own attach handles overlap: function 0000:01:00.1 is offered or attached already',
    ],
    [
      'that attaches a function as a whole and in parts',
      of(part('r', { handles: [fn(0), fn(1, { physfn: '0000:01:00.0' })] })),
      'its own attach handles overlap: function 0000:01:00.0, of which 0000:01:00.1 is a part, is offered or attached already',
    ],
    ['with a tree of 18 levels', of(...chain(18)), 'deployable n17 leads to no root of its device within 16 steps'],
    [
      'with a deployable below itself',
      of(node('r'), node('a', 'a')),
      'deployable a leads to no root of its device within 16 steps',
    ],
    [
      'with a deployable below one that is not there',
      of(node('r'), node('a', 'b')),
      'deployable a stands below b, which is not a deployable of its device',
    ],
    [
      'that counts its tree wrongly',
      of(node('r', undefined, { numAccelerators: 2 }), node('a', 'r', { handles: [fn(1)] })),
      'deployable r says 2 accelerators, and its tree has handles for 1',
    ],
    [
      'with an attribute that describes itself',
      withAttributes({ key: 'a', value: '', parent: 1 }),
      'deployable r: attribute a describes attribute 1, which does not stand before it',
    ],
    [
      'with an attribute that describes none',
      withAttributes({ key: 'a', value: '', parent: 7 }),
      'deployable r: attribute a describes attribute 7, which does not stand before it',
    ],
    [
      'with attributes of 9 levels',
      withAttributes(...nested(9)),
      'deployable r: attribute k8 is nested more than 8 deep',
    ],
    [
      'with a class below an attribute',
      withAttributes({ key: 'a', value: '' }, { key: 'rc', value: 'X', parent: 1 }),
      'deployable r: attribute rc must not describe another attribute',
    ],
    [
      'with an attribute twice in its place',
      withAttributes({ key: 'a', value: '' }, { key: 'b', value: '', parent: 1 }, { key: 'b', value: '', parent: 1 }),
      'deployable r has two attributes a / b',
    ],
    [
      'whose second deployable has an attribute twice',
      of(part('q'), part('r', { attributes: [...part('').attributes, { key: 'rc', value: 'X' }] })),
      'deployable r has two attributes rc',
    ],
  ])('%s is refused', (_, device, why) => expect(unfit('some_driver', device)).toBe(why))

  test('is virtual where any of its handles is a virtual function', () => {
    expect(isVirtual(card(1))).toBe(false)
    expect(isVirtual(of(part('a'), part('b', { handles: [fn(1), fn(2, { physfn: '0000:01:00.0' })] })))).toBe(true)
  })
})

describe('the tree of a reported device', () => {
  const tree = treeOf([
    node('leaf', 'middle', { handles: [fn(1), fn(2, { set: 4 }), fn(3, { set: 4 })] }),
    node('middle', 'top', { handles: [fn(4)] }),
    node('made', 'made top', { handles: [{ type: 'MDEV', info: slot(2, 0) }, fn(5)] }),
    node('top'),
    node('made top'),
    node('lone', undefined, { handles: [fn(6)] }),
    node('lost', 'nowhere'),
  ])
  const names = (nodes: readonly ReportedDeployable[]) => nodes.map(({ name }) => name)
  test('has parents before those below them, and otherwise the order of the report', () =>
    expect(names(tree.inOrder)).toEqual(['top', 'made top', 'lone', 'lost', 'middle', 'made', 'leaf']))
  test('knows what is below and above each deployable, and how many accelerators it has', () => {
    const told = tree.inOrder.map((one) => [one.name, names(tree.below(one.name)), tree.above(one), tree.units(one)])
    expect(told).toEqual([
      ['top', ['leaf', 'middle'], null, 3],
      ['made top', ['made'], null, 2],
      ['lone', [], null, 1],
      ['lost', [], null, 0],
      ['middle', ['leaf'], { parent: 'top', root: 'top' }, 3],
      ['made', [], { parent: 'made top', root: 'made top' }, 2],
      ['leaf', [], { parent: 'middle', root: 'top' }, 2],
    ])
  })
  test('is not looked at where there is none', () => {
    expect(treeProblem(of(part('a', { numAccelerators: 7 }), part('b')))).toBe(null)
    expect(treeProblem(of(part('a', { numAccelerators: 7 }), node('b', 'a')))).toBe(
      'deployable a says 7 accelerators, and its tree has handles for 2',
    )
  })
})

describe('a device that is shown where another one was', () => {
  const board = { product_id: '1', device_id: '2', serial: '3', controller: 'c' }
  const was: DeviceFacts = {
    driver: 'some_driver',
    type: 'FPGA',
    vendor: 'v',
    model: 'm',
    stdBoardInfo: JSON.stringify(board),
    vendorBoardInfo: null,
    controlPath: 'p',
  }
  const shows = (more: Partial<ReportedDevice>, before: Partial<DeviceFacts> = {}) =>
    likeness(
      cardByText({ ...was, ...before }),
      cardByText(card(1, { vendor: 'v', model: 'm', stdBoardInfo: was.stdBoardInfo, ...more })),
    ) !== 'other'
  const std = (more: object) => ({ stdBoardInfo: JSON.stringify({ ...board, ...more }) })
  test.each<[string, boolean, Partial<ReportedDevice>, Partial<DeviceFacts>?]>([
    ['the same', true, {}],
    ['the same with another controller and type', true, { ...std({ controller: 'd' }), type: 'GPU' }],
    ['the same that says less of itself', true, { stdBoardInfo: null }],
    ['the same that says more of itself', true, {}, { stdBoardInfo: null }],
    ['the same where its board says what cannot be read', true, { stdBoardInfo: '{not JSON' }],
    ['the same where its vendor says it instead', true, { stdBoardInfo: null, vendorBoardInfo: '{"serial": "3"}' }],
    ['another by its vendor', false, { vendor: 'w' }],
    ['the same by another name of its model', true, { model: 'n' }],
    ['another by its product', false, std({ product_id: '9', serial: undefined })],
    ['another by its device', false, std({ device_id: '9', serial: undefined })],
    ['the same of another product, by its number', true, std({ product_id: '9' })],
    ['another by its number', false, std({ serial: '9' })],
    ['another by the number that its vendor says', false, { stdBoardInfo: null, vendorBoardInfo: '{"serial": "9"}' }],
    ['the same where only its vendor says another number', true, { vendorBoardInfo: '{"serial": "9"}' }],
  ])('is %s', (_, same, more, before) => expect(shows(more, before)).toBe(same))
})
