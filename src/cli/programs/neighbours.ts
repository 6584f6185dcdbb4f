/** The services of the cloud that this program uses, for the log at its start and the detail of readiness. */
import type { Cloud } from './cloud.ts'
import type { ImageStores } from './images.ts'

/** `in use`; `absent`: not used by configuration or not in the catalogue; otherwise the reason why it does not answer. For images: their source. */
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
