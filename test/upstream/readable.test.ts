/** How attach handles of upstream are read. */
import { expect, test } from 'vitest'
import { attachingIn } from '../../src/actors/upstream/readable.ts'

test.each([
  ['PCI', '{"bus": "0c", "function": "0"}', { type: 'PCI', info: { bus: '0c', function: '0' } }],
  ['MDEV', '{"asked_type": "nvidia-1"}', { type: 'MDEV', info: { asked_type: 'nvidia-1' } }],
  ['PCI', '{"slot": 3, "vf": true, "none": null}', { type: 'PCI', info: { slot: '3', vf: 'true' } }],
  ['PCI', '{}', null],
  ['PCI', '{"none": null}', null],
  ['PCI', '{"deep": {"bus": "0c"}}', null],
  ['PCI', '["0c"]', null],
  ['PCI', 'no json', null],
  ['TEST', '{"bus": "0c"}', null],
])('%s %s', (type, info, expected) => expect(attachingIn({ type, info })).toEqual(expected))
