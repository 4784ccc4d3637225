import { type Endpoint, endpointWith } from '@secrets/http';
import { z } from 'zod';
import { folderPath, newSecretPath, secretPath } from '../../kv/secret-path.ts';
import type { MountRef } from '../../mounts/mount-ref.ts';

/** Request that a handler receives. It is handled again if `mount` turns out to be out of date. */
interface BelowMount {
  mount: MountRef;
}

/** An endpoint below every mount, at `/config`, or at a first segment and a wildcard, such as `/data/*path`. */
export type KvEndpoint = Endpoint<BelowMount>;

/** Declares an endpoint below every mount. `kvRouter` makes endpoints of the service from them. */
export const kvEndpoint = endpointWith<BelowMount>();

/** The parameters of an endpoint for one secret. */
export const SecretParams = z.object({ path: secretPath });

/** The parameters of an endpoint that may create the secret. */
export const NewSecretParams = z.object({ path: newSecretPath });

/** The parameters of an endpoint for a folder, whose path may be absent. */
export const FolderParams = z.object({ path: folderPath });
