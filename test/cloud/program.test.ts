/** From an upload to Glance to a programmed FPGA: the program beside the real services. */
import { randomBytes, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { embeddedStoreIn } from '../support/embedded.ts'
import { uploadImage, type Upload } from '../support/imageUpload.ts'
import { describeWith } from '../support/needs.ts'
import { type Service, startService, tempFolder } from '../support/program.ts'
import { shell } from '../support/shell.ts'
import { type Held, signIn } from '../support/signIn.ts'
import { CLOUD, type RiggedCloud, START_MS, startCloud } from './rig.ts'
import { environmentOf } from './settings.ts'

type Deployable = {
  readonly uuid: string
  readonly bitstream_id: string | null
  readonly name: string
  readonly rp_uuid: string
}

/** Of a file of a service that runs; empty when the service has replaced or removed it meanwhile. */
const contentOf = (path: string): Buffer => {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0)
    throw error
  }
}

describeWith(CLOUD, 'programming with an image of a real Glance', (rig) => {
  const folder = tempFolder('programming')
  let cloud: RiggedCloud
  let operator: Held
  let admin: Held
  let service: Service
  beforeAll(async () => {
    cloud = await startCloud(rig, 3600)
    operator = await signIn(cloud.authUrl, 'cyborg', { project: 'service' })
    admin = await signIn(cloud.authUrl, 'alpha-admin', { project: 'alpha' })
    await embeddedStoreIn(join(folder.path, 'data/store'))
    const config = join(folder.path, 'config.toml')
    const account = `auth_url = "${cloud.authUrl}"\nusername = "cyborg"\nproject_name = "service"\n`
    writeFileSync(config, `[keystone_authtoken]\n${account}\n[program]\nwait_seconds = 60\n`)
    // where the catalogue says
    const address = `127.0.0.1:${cloud.env['ACCELERATOR_PORT']}`
    const listen = ['--listen', address, '--admin-listen', '127.0.0.1:0', '--data', join(folder.path, 'data')]
    service = await startService(
      {
        args: [
          'start',
          '--auth',
          'keystone',
          '--config',
          config,
          '--demo-hosts',
          '1',
          '--demo-devices',
          '1',
          ...listen,
        ],
        env: { ACCELERANDO_KEYSTONE_AUTHTOKEN_PASSWORD: 'rig-secret' },
      },
      120_000,
    )
  }, START_MS)
  afterAll(async () => {
    await service?.end('SIGTERM')
    await cloud?.stop()
    folder.remove()
  })

  const ask = async (method: string, path: string, body?: unknown, serviceToken?: string) => {
    const response = await fetch(`${service.base}${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        'x-auth-token': admin.token,
        ...(serviceToken && { 'x-service-token': serviceToken }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(90_000),
    })
    const text = await response.text()
    return { status: response.status, text, json: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> }
  }
  const fpga = async (): Promise<Deployable> => {
    const { json } = await ask('GET', '/deployables')
    return (json['deployables'] as Deployable[]).find(({ name }) => name.startsWith('sim-1_'))!
  }
  /** There is one FPGA. */
  const functionTraits = async (): Promise<readonly string[]> => {
    const { json } = await ask('GET', '/attributes')
    const values = (json['attributes'] as { readonly value: string }[]).map(({ value }) => value)
    return values.filter((value) => value.startsWith('CUSTOM_FPGA_FUNCTION_ID_'))
  }
  const upload = (description: Upload, bytes: Uint8Array | null) =>
    uploadImage(cloud.glanceUrl, operator.token, description, bytes)
  const program = async (image: string) =>
    ask('PATCH', `/deployables/${(await fpga()).uuid}/program`, [
      { op: 'replace', path: '/program', value: [{ image_uuid: image }] },
    ])
  const does = (functionId: string) => Buffer.from(JSON.stringify({ function_uuid: functionId }))

  test('the deployable gets the image and its function trait, and another one with the next image', async () => {
    for (const functionId of ['aes-1', 'gzip-2']) {
      const image = await upload({ name: functionId, function_uuid: functionId }, does(functionId))
      const answer = await program(image)
      expect([answer.status, answer.json['bitstream_id']]).toEqual([200, image])
      const trait = functionId.toUpperCase().replace('-', '_')
      const wanted = [expect.stringMatching(new RegExp(`^CUSTOM_FPGA_FUNCTION_ID_(XILINX|INTEL)_${trait}$`))]
      await expect.poll(functionTraits, { timeout: 20_000 }).toEqual(wanted)
    }
  }, 120_000)
  test('an image of some size comes as well', async () => {
    const image = await upload({}, randomBytes(20_000_000))
    expect((await program(image)).status).toBe(200)
    expect((await fpga()).bitstream_id).toBe(image)
  }, 120_000)
  test('a bind of a profile that names a function loads the newest image with that function', async () => {
    const functionId = randomUUID()
    await upload({ function_uuid: functionId, version: '1.9' }, does(functionId))
    const image = await upload({ 'accel:function_id': functionId, version: '1.10' }, does(functionId))
    const groups = [{ 'resources:FPGA': '1', 'accel:function_id': functionId }]
    expect((await ask('POST', '/device_profiles', [{ name: `p-${functionId}`, groups }])).status).toBe(201)
    const made = await ask('POST', '/accelerator_requests', { device_profile_name: `p-${functionId}` })
    const [{ uuid: arq }] = made.json['arqs'] as [{ readonly uuid: string }]
    const { rp_uuid: device_rp_uuid } = await fpga()
    const bond = { hostname: 'sim-1', device_rp_uuid, instance_uuid: randomUUID() }
    const patch = Object.entries(bond).map(([name, value]) => ({ op: 'add', path: `/${name}`, value }))
    const nova = await signIn(cloud.authUrl, 'nova', { project: 'service' })
    expect((await ask('PATCH', '/accelerator_requests', { [arq]: patch }, nova.token)).status).toBe(202)
    const state = async () => (await ask('GET', `/accelerator_requests/${arq}`)).json['state']
    await expect.poll(state, { timeout: 60_000 }).toBe('Bound')
    expect((await fpga()).bitstream_id).toBe(image)
    expect((await ask('DELETE', `/accelerator_requests?arqs=${arq}`, undefined, nova.token)).status).toBe(204)
  }, 120_000)
  test.each([
    ['that is not there', async () => randomUUID(), 404, 'image'],
    ['without data', () => upload({}, null), 409, 'its status is queued'],
    ['without the tag', () => upload({ tags: [] }, does('x')), 409, 'it does not have the tag FPGA'],
  ])('an image %s is refused, and nothing changes', async (_, made, status, says) => {
    const before = await fpga()
    const answer = await program(await made())
    expect([answer.status, answer.text.includes(says)]).toEqual([status, true])
    expect(await fpga()).toEqual(before)
  })
  test('openstack accelerator deployable program asks Glance for the image, and the card is programmed', async () => {
    const env = await environmentOf(rig, cloud)
    const image = await upload({ name: 'by-command' }, does('by-command'))
    const { uuid } = await fpga()
    const command = (of: string) =>
      shell(`openstack accelerator deployable program ${uuid} ${of} -f value -c uuid`, env)
    await expect(command(randomUUID())).rejects.toThrow('image not found')
    expect((await command(image)).trim()).toBe(uuid)
    expect((await fpga()).bitstream_id).toBe(image)
  }, 120_000)
  test('the password is in no log, not in the journal and in no file of the service', async () => {
    const files = readdirSync(join(folder.path, 'data'), { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder.path, 'data', name))
      .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
    expect(files.length).toBeGreaterThan(10)
    for (const path of files) expect(`${path} ${contentOf(path).includes('rig-secret')}`).toBe(`${path} false`)
    expect(service.stderr()).toContain('images.downloaded')
    expect(service.stderr()).not.toContain('rig-secret')
  })
})
