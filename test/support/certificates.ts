import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A private key and its certificate, in PEM. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

interface Issuer extends Certificate {
  readonly name: string;
  readonly privateKey: KeyObject;
}

interface CertificateOptions {
  /** Without one, the certificate is self-signed. */
  readonly issuer?: Issuer;
  readonly host?: string;
  readonly notAfter?: string;
}

const [INTEGER, BITS, OCTETS, OID, UTF8, DATE, SEQUENCE, SET] = [2, 3, 4, 6, 12, 24, 48, 49];

/** A certificate for a host, by default localhost, as no tool for it is on every machine: ASN.1 as in RFC 5280. */
export function newCertificate({ issuer, host = 'localhost', notAfter = '21000101000000Z' }: CertificateOptions = {}) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = `test ${host}${issuer === undefined ? ' root' : ''}`;
  const algorithm = der(SEQUENCE, oid('2a8648ce3d040302'));
  const nameOf = (text: string) => der(SEQUENCE, der(SET, der(SEQUENCE, oid('550403'), der(UTF8, Buffer.from(text)))));
  const extension = (id: string, content: Buffer) => der(SEQUENCE, oid(id), der(OCTETS, content));
  const content = der(
    SEQUENCE,
    der(0xa0, der(INTEGER, Buffer.of(2))),
    der(INTEGER, Buffer.from(`01${Date.now().toString(16).padStart(12, '0')}`, 'hex')),
    algorithm,
    nameOf(issuer?.name ?? name),
    der(SEQUENCE, der(DATE, Buffer.from('20000101000000Z')), der(DATE, Buffer.from(notAfter))),
    nameOf(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      der(
        SEQUENCE,
        extension('551d11', der(SEQUENCE, der(0x82, Buffer.from(host)))),
        ...(issuer === undefined ? [extension('551d13', der(SEQUENCE, der(1, Buffer.of(255))))] : []),
      ),
    ),
  );
  const signature = sign('sha256', content, issuer?.privateKey ?? privateKey);
  const certificate = der(SEQUENCE, content, algorithm, der(BITS, Buffer.of(0), signature));
  const cert = `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`;
  return { name, privateKey, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), cert };
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.of(tag, ...size), content]);
}

const oid = (hex: string) => der(OID, Buffer.from(hex, 'hex'));

/** Serves HTTPS on localhost; returns the origin. */
export async function serveHttps(
  certificate: Certificate,
  listener: RequestListener = (_, response) => void response.end('{}'),
): Promise<string> {
  const { key, cert } = certificate;
  const server = createServer({ key, cert }, listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `https://localhost:${(server.address() as AddressInfo).port}`;
}
