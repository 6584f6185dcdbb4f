/** What of the cloud this program uses: in the log at its start, and in the detail of readiness. */
import type { Cloud } from './cloud.ts'
import type { ImageStores } from './images.ts'

/** `absent`: not used according to the configuration, or the catalogue has none; `in use`; otherwise why it does not answer. Images: where they come from. */
export type Neighbours = Readonly<Record<'keystone' | 'placement' | 'nova' | 'images', string>>

export const neighboursOf = (
  { session, placement, nova }: Pick<Cloud, 'session' | 'placement' | 'nova'>,
  images: Pick<ImageStores, 'whyFailing' | 'source'>,
): Neighbours => {
  const whyFailing = session?.whyFailing() ?? {}
  const said = (used: unknown, service: string): string =>
    used === null || session?.lacks(service) === true ? 'absent' : (whyFailing[service] ?? 'in use')
  return {
    keystone: said(session, 'identity'),
    placement: said(placement, 'placement'),
    nova: said(nova, 'compute'),
    images: images.whyFailing() ?? images.source(),
  }
}
