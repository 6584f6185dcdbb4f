/** What is said of the services of a cloud at the start and in the detail of readiness. */
import { expect, test } from 'vitest'
import { neighboursOf } from '../../src/cli/programs/neighbours.ts'
import type { Cloud } from '../../src/cli/programs/cloud.ts'

type Given = Parameters<typeof neighboursOf>
const session = (whyFailing: Readonly<Record<string, string>>, lacking: readonly string[] = []) =>
  ({ whyFailing: () => whyFailing, lacks: (service) => lacking.includes(service) }) as Cloud['session']
const novaFailing = () => null
const [placement, nova] = [{} as Cloud['placement'], {} as Cloud['nova']]
const images = (whyFailing: string | null): Given[1] => ({
  whyFailing: () => whyFailing,
  source: () => 'the image service',
})

test.each<readonly [string, Given[0], Given[1], readonly string[]]>([
  [
    'without a cloud',
    { session: null, placement: null, nova: null, novaFailing },
    { whyFailing: () => null, source: () => 'absent' },
    ['absent', 'absent', 'absent', 'absent'],
  ],
  [
    'with all of it',
    { session: session({}), placement, nova, novaFailing },
    images(null),
    ['in use', 'in use', 'in use', 'the image service'],
  ],
  [
    'with a Nova by its address, and nothing else',
    { session: null, placement: null, nova, novaFailing },
    { whyFailing: () => null, source: () => 'a folder' },
    ['absent', 'absent', 'in use', 'a folder'],
  ],
  [
    'with services that do not answer',
    { session: session({ identity: 'late', placement: 'broken' }), placement, nova, novaFailing: () => 'gone' },
    images('images: it answers 500'),
    ['late', 'broken', 'gone', 'images: it answers 500'],
  ],
  [
    'with a catalogue that has neither Placement nor Nova',
    { session: session({}, ['placement', 'compute']), placement, nova, novaFailing },
    images(null),
    ['in use', 'absent', 'absent', 'the image service'],
  ],
  [
    'with a Placement that the catalogue lacks, and that did not answer before',
    { session: session({ placement: 'broken' }, ['placement']), placement, nova, novaFailing },
    images(null),
    ['in use', 'absent', 'in use', 'the image service'],
  ],
])('%s', (_, cloud, stores, [keystone, ofPlacement, ofNova, ofImages]) =>
  expect(neighboursOf(cloud, stores)).toEqual({ keystone, placement: ofPlacement, nova: ofNova, images: ofImages }),
)
