// A minimal secrets service: only a statement for each request, and the product's encryption.
import { randomUUID } from 'node:crypto';
import { decodeSecretData, encodeSecretData, type SecretData, versionAad } from '@secrets/domain';
import { decrypt, encrypt, readKeyRing } from '@secrets/seal';
import express from 'express';
import type { MountRef } from '../../services/secrets/src/mounts/mount-ref.ts';
import { findMountAt } from '../../services/secrets/src/queries/mounts/mounts.ts';
import { insertVersion } from '../../services/secrets/src/queries/versions/insert-version.ts';
import { bareSql } from './bare-sql.ts';
import { findNewestVersion } from './find-version.ts';
import { serve } from './serve.ts';

const { DATABASE_URL = '', SEAL_KEY_FILE = '' } = process.env;
const sql = bareSql(DATABASE_URL);
const keyRing = readKeyRing(SEAL_KEY_FILE);
const mounts = new Map<string, MountRef>();

async function mountAt(path: string): Promise<MountRef> {
  const mount = mounts.get(path) ?? (await findMountAt(sql, 'root', [path]));
  if (mount === undefined) throw new Error('no such mount');
  mounts.set(path, mount);
  return mount;
}

const envelope = (data: unknown) => ({
  request_id: randomUUID(),
  lease_id: '',
  lease_duration: 0,
  renewable: false,
  data,
  wrap_info: null,
  warnings: null,
  auth: null,
});

interface VersionInfo {
  version: number;
  createdAt: Date;
  deletionTime: Date | null;
  customMetadata: Record<string, string> | null;
}

const metadata = ({ version, createdAt, deletionTime, customMetadata }: VersionInfo) => ({
  created_time: createdAt.toISOString(),
  custom_metadata: customMetadata,
  deletion_time: deletionTime?.toISOString() ?? '',
  destroyed: false,
  version,
});

const app = express();
app.disable('x-powered-by');
app.disable('etag');
app.get('/v1/:mount/data/:path', async (request, response) => {
  const mount = await mountAt(request.params.mount);
  const stored = await findNewestVersion(sql, mount, request.params.path);
  if (stored === undefined || stored.sealed === null) return void response.sendStatus(404);
  const aad = versionAad({
    mountId: mount.id,
    path: request.params.path,
    versionId: stored.versionId,
  });
  const data = decodeSecretData(decrypt(keyRing, aad, stored.sealed));
  response.json(envelope({ data, metadata: metadata(stored) }));
});
app.post('/v1/:mount/data/:path', express.json(), async (request, response) => {
  const mount = await mountAt(request.params.mount);
  const versionId = randomUUID();
  const aad = versionAad({ mountId: mount.id, path: request.params.path, versionId });
  const { data } = request.body as { data: SecretData };
  const written = await insertVersion(sql, mount, request.params.path, {
    secretId: randomUUID(),
    versionId,
    sealed: encrypt(keyRing, aad, encodeSecretData(data)),
    cas: null,
    mayCreate: true,
    mayUpdate: true,
    onlyIf: null,
    traceparent: null,
  });
  if (written === undefined) return void response.sendStatus(409);
  response.json(envelope(metadata(written)));
});

serve(app);
