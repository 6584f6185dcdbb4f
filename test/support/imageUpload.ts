/** Puts images into Glance as an operator does: a description, then the bytes. */
import { setTimeout as wait } from 'node:timers/promises'

export type Upload = Readonly<Record<string, unknown>>

const expectStatus = async (response: Response, status: number): Promise<Response> => {
  if (response.status !== status) throw new Error(`${response.url}: ${response.status} ${await response.text()}`)
  return response
}
/** `bytes` null: they are not put there. The UUID of the image. */
export const uploadImage = async (
  glanceUrl: string,
  token: string,
  description: Upload,
  bytes: Uint8Array | null,
): Promise<string> => {
  const ask = (method: string, path: string, type: string, body: string | Uint8Array) =>
    fetch(`${glanceUrl}/v2/images${path}`, {
      method,
      headers: { 'x-auth-token': token, 'content-type': type },
      body: body as string,
      signal: AbortSignal.timeout(30_000),
    })
  const whole = { disk_format: 'raw', container_format: 'bare', tags: ['FPGA'], ...description }
  const made = await expectStatus(await ask('POST', '', 'application/json', JSON.stringify(whole)), 201)
  const { id } = (await made.json()) as { readonly id: string }
  if (bytes !== null) {
    await expectStatus(await ask('PUT', `/${id}/file`, 'application/octet-stream', bytes), 204)
    // images of one moment have no order in pages
    await wait(1)
  }
  return id
}
