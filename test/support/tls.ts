/**
 * TLS for tests: certificates that a CA of their own has signed, and a listener that puts TLS in front of a service.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import type { Found, Part } from './needs.ts'

export const OPENSSL: Part = {
  name: 'openssl',
  installable: true,
  find: (): Found => {
    try {
      const program = 'openssl'
      execFileSync(program, ['version'], { stdio: 'ignore' })
      return { at: program }
    } catch {
      return { lacking: 'no openssl in PATH' }
    }
  },
}

/** All in PEM: the certificate of the CA, and a key with the certificate for 127.0.0.1 that the CA has signed. */
export type Certificates = { readonly ca: string; readonly key: string; readonly cert: string }
export const certificates = (openssl: string): Certificates => {
  const folder = mkdtempSync(join(tmpdir(), 'accelerando-tls-'))
  const run = (line: string) => execFileSync(openssl, line.split(' '), { stdio: 'ignore', cwd: folder })
  try {
    run('req -x509 -newkey ed25519 -nodes -keyout ca-key.pem -out ca.pem -subj /CN=tests -days 1')
    run('req -newkey ed25519 -nodes -keyout key.pem -out request.pem -subj /CN=service')
    writeFileSync(join(folder, 'names'), 'subjectAltName=IP:127.0.0.1\n')
    run('x509 -req -in request.pem -CA ca.pem -CAkey ca-key.pem -CAcreateserial -out cert.pem -days 1 -extfile names')
    const read = (name: string) => readFileSync(join(folder, name), 'utf8')
    return { ca: read('ca.pem'), key: read('key.pem'), cert: read('cert.pem') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

export type TlsProxy = {
  /** The target's address, path included, over TLS. */
  readonly url: string
  readonly close: () => Promise<void>
}
/** Passes on what comes over TLS to `target`, an `http` URL. */
export const tlsProxy = async (target: string, { key, cert }: Certificates): Promise<TlsProxy> => {
  const { hostname, port, pathname } = new URL(target)
  const open = new Set<Socket>()
  const server = createServer({ key, cert }, (client) => {
    const service = connect(Number(port), hostname)
    for (const socket of [client, service]) {
      open.add(socket)
      socket.on('error', () => undefined).on('close', () => open.delete(socket))
    }
    client.pipe(service).pipe(client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}${pathname === '/' ? '' : pathname}`,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of open) socket.destroy()
      await closed
    },
  }
}
