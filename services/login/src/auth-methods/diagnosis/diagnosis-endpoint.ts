import { notFound } from '@secrets/domain';
import { z } from 'zod';
import { type LoginEndpoint, type MethodEndpoint, methodEndpoint } from '../auth-method.ts';
import type { Diagnosis } from './diagnosis.ts';

const remoteAddress = z.union([z.ipv4(), z.ipv6()], { error: 'must be an IP address' }).optional();

/** A login to diagnose, and optionally the address from which it would come. */
export type DiagnosisRequest<Login> = Login & { remote_address?: string | undefined };

/** @returns undefined if no mount of the method has the path */
type Diagnose<Login> = (
  at: Pick<LoginEndpoint, 'namespaceId' | 'mount'>,
  request: DiagnosisRequest<Login>,
) => Promise<Diagnosis | undefined>;

/** `auth/<mount>/diagnose` (docs/conventions/cloudb.md#diagnosis), which needs `sudo`. */
export const diagnosisEndpoint = <Login extends z.ZodObject>(
  loginBody: Login,
  diagnose: Diagnose<z.output<Login>>,
): MethodEndpoint =>
  methodEndpoint({
    method: 'post',
    path: '/diagnose',
    summary: 'Make every check of a login without logging in',
    access: { needsSudo: true },
    body: loginBody.extend({ remote_address: remoteAddress }),
    handle: async ({ mount, body, caller }) => {
      const at = { namespaceId: caller.namespace.id, mount: mount.path };
      const diagnosis = await diagnose(at, body as DiagnosisRequest<z.output<Login>>);
      if (diagnosis === undefined) throw notFound();
      return { data: diagnosis };
    },
  });
