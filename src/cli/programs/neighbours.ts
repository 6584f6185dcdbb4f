/** The services of the cloud that this program uses, for the log at its start and the detail of readiness. */
import { COMPUTE_SERVICE } from '../../neighbours/novaCall.ts'
import type { Cloud } from './cloud.ts'
import type { ImageSource, ImageStores } from './images.ts'

/**
 * `in use`; `absent`: not used by configuration or not in the catalogue; otherwise the reason why it does not answer.
 * For images: their source.
 */
export type Neighbours = Readonly<Record<'keystone' | 'placement' | 'nova' | 'images', string>>

export const neighboursOf = (
  { session, placement, nova, novaFailing }: Pick<Cloud, 'session' | 'placement' | 'nova' | 'novaFailing'>,
  images: Pick<ImageStores, 'whyFailing' | 'source'>,
): Neighbours => {
  const whyFailing = session?.whyFailing() ?? {}
  const said = (used: unknown, service: string, reason = whyFailing[service] ?? null): string =>
    used === null || session?.lacks(service) === true ? 'absent' : (reason ?? 'in use')
  return {
    keystone: said(session, 'identity'),
    placement: said(placement, 'placement'),
    nova: said(nova, COMPUTE_SERVICE, novaFailing()),
    images: images.whyFailing() ?? images.source(),
  }
}

const WELL: Readonly<Record<'in use' | Exclude<ImageSource, 'absent'>, true>> = {
  'in use': true,
  'a folder': true,
  'the image service': true,
}
/** Whether what is said of a neighbour means that it is used and answers. */
export const isWell = (said: string): boolean => Object.hasOwn(WELL, said)
