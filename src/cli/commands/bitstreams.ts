/** `accelerando bitstream`: which image is in which card, what could be loaded, and loading it in advance. */
import { withPlainErrors, type Register } from '../command.ts'
import type { CommandRow } from '../commandRow.ts'
import { Failure } from '../exits.ts'
import { type ApiFlags, addApiFlags, answersOf, apiOf, limitFor, withQuery } from '../operators/api.ts'
import type { Deployable, Program, ProgramDetail } from '../operators/apiShapes.ts'
import { type Columns, addOutput, columnsOf, present } from '../output.ts'

const HEADS = { deployable_uuid: 'deployable', hostname: 'host', image_uuid: 'image', former_image_uuid: 'held before' }
const LISTED = columnsOf<Program>(['deployable_uuid', 'state', 'hostname', 'name', 'image_uuid', 'reason'], HEADS)
const storeSays = ({ image, image_problem: problem }: ProgramDetail): string | null =>
  problem ??
  (image && `it has ${image.name ?? 'the image'}${image.digest === null ? ', without a digest' : `, ${image.digest}`}`)
/** What guests need to use the loaded image; null: it does not say. */
const driverOf = (image: ProgramDetail['image']): string | null =>
  image && ([image.driver, image.driver_ver, image.driver_path].filter(Boolean).join(' ') || null)
const DETAILS: Columns<ProgramDetail> = [
  ...columnsOf<ProgramDetail>(
    ['deployable_uuid', 'state', 'hostname', 'name', 'image_uuid', 'former_image_uuid', 'reason'],
    HEADS,
  ),
  { name: 'store', head: 'the image store', of: storeSays },
  { name: 'refusal', head: 'cannot be loaded now', of: ({ refusal }) => refusal },
  { name: 'arqs', head: 'in use by', of: ({ arqs }) => arqs.join(' ') || null },
  {
    name: 'images',
    head: 'images that fit',
    of: ({ images, images_left_out: more, images_problem: problem }) =>
      problem ??
      ([
        ...images.map(({ uuid, name }) => `${uuid}${name === null ? '' : ` ${name}`}`),
        ...(more > 0 ? [`and ${more} more`] : []),
      ].join(', ') ||
        null),
  },
  { name: 'driver', head: 'its driver', of: ({ image }) => driverOf(image) },
]
const LOADED = columnsOf<Deployable>(['uuid', 'name', 'bitstream_id'], { bitstream_id: 'image' })

/** The host is still at work; `bitstream_id` in the answer is what is recorded until it ends. */
const ACCEPTED = 202
const SOME = '01a20b28-0abe-700a-9f52-7b87b630bc1b'
const at = (uuid: string) => `/programs/${encodeURIComponent(uuid)}`
const load = async (uuid: string, image: string, flags: ApiFlags): Promise<void> => {
  const body = [{ op: 'replace', path: '/program', value: [{ image_uuid: image }] }]
  const path = `/deployables/${encodeURIComponent(uuid)}/program`
  const { status, document } = await answersOf(flags)('PATCH', path, body)
  const json = document as Deployable
  present(flags, { document: json, rows: [json], columns: LOADED, one: true })
  if (status === ACCEPTED)
    throw new Failure('waited', `image ${image} is still being loaded`, { next: `accelerando bitstream show ${uuid}` })
}

const acting = (family: CommandRow): void => {
  const preload = family
    .command('preload <UUID>')
    .description('Loads an image into a deployable that nobody uses, before a request asks for it.')
    .example(`accelerando bitstream preload ${SOME} --image 9a2b44c1-6f5e-4a55-8e5f-0c1d2e3f4a5b`)
    .endsWith('waited')
  addOutput(addApiFlags(preload), LOADED, { one: true })
    .requiredOption('--image <UUID>', 'the image; `bitstream show` lists those that fit')
    .action(
      withPlainErrors((uuid: string, flags: ApiFlags & { readonly image: string }) => load(uuid, flags.image, flags)),
    )
  const revert = family
    .command('revert <UUID>')
    .description('Loads the image that the deployable held before, if the image store still gives it.')
    .example(`accelerando bitstream revert ${SOME}`)
    .endsWith('waited')
  addOutput(addApiFlags(revert), LOADED, { one: true }).action(
    withPlainErrors(async (uuid: string, flags: ApiFlags) => {
      const { former_image_uuid: former } = await apiOf(flags)<ProgramDetail>('GET', at(uuid))
      if (former === null) throw new Failure('conflict', `no image is recorded that deployable ${uuid} held before`)
      await load(uuid, former, flags)
    }),
  )
}

export const bitstreams: Register = (program) => {
  const family = program.command('bitstream').description('The images of programmable deployables.')
  const list = family
    .command('list')
    .description('Lists the deployables that may be programmed, with what is loaded.')
    .example('accelerando bitstream list -f value -c deployable_uuid -c image_uuid')
  addOutput(addApiFlags(list), LISTED).action(
    withPlainErrors(async (flags: ApiFlags) => {
      const path = withQuery('/programs', { limit: limitFor(flags) })
      const json = await apiOf(flags)<{ readonly programs: readonly Program[] }>('GET', path)
      present(flags, { document: json, rows: json.programs, columns: LISTED })
    }),
  )
  const show = family
    .command('show <UUID>')
    .description('Verifies what a deployable holds against the image store, and shows what could be loaded.')
    .example(`accelerando bitstream show ${SOME}`)
  addOutput(addApiFlags(show), DETAILS, { one: true }).action(
    withPlainErrors(async (uuid: string, flags: ApiFlags) => {
      const json = await apiOf(flags)<ProgramDetail>('GET', at(uuid))
      present(flags, { document: json, rows: [json], columns: DETAILS, one: true })
    }),
  )
  acting(family)
}
