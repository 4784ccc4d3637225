import { notFound } from '@secrets/domain';
import { type MethodEndpoint, methodEndpoint } from '../../auth-method.ts';
import type { CloudBContext } from '../cloudb-context.ts';
import { diagnose } from './diagnose.ts';
import { DiagnosisRequest } from './diagnosis-request.ts';

/** `auth/<mount>/diagnose` (docs/conventions/cloudb.md#diagnosis), which needs `sudo`. */
export const diagnosisEndpoint = (context: CloudBContext): MethodEndpoint =>
  methodEndpoint({
    method: 'post',
    path: '/diagnose',
    summary: 'Make every check of a login without logging in',
    access: { needsSudo: true },
    body: DiagnosisRequest,
    handle: async ({ mount, body, caller }) => {
      const target = await context.targets(
        { namespaceId: caller.namespace.id, mount: mount.path },
        body.role,
      );
      if (target === undefined) throw notFound();
      return { data: await diagnose(context, target, body) };
    },
  });
