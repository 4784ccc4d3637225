import { jsonResponse } from '../../../simulation/http-response.ts';
import { notFound } from '../codehost-error.ts';
import type { ActionSecret } from '../store/action-secret.ts';
import type { Scope } from '../store/scope.ts';
import { boxKeyOf } from '../store/sealed-boxes.ts';
import type { Operation, OperationContext, OperationRequest } from './operation.ts';
import { pageOf } from './page-of.ts';
import { scopeIn } from './scope-in.ts';

/** The public key of the scope: each has its own. */
export const getPublicKey: Operation = async (context, request) => {
  const scope = scopeIn(context, request);
  const { keyId, publicKey } = await boxKeyOf(context.seed, scope.key, context.store.keyGeneration);
  return jsonResponse(200, { key_id: keyId, key: publicKey });
};

export const listSecrets: Operation = (context, request) => {
  const scope = scopeIn(context, request);
  const all = context.store.in(scope);
  const { items, headers } = pageOf(context, request, all);
  const secrets = items.map((secret) => described(context, scope, secret));
  return jsonResponse(200, { total_count: all.length, secrets }, headers);
};

export const getSecret: Operation = (context, request) => {
  const scope = scopeIn(context, request);
  return jsonResponse(200, described(context, scope, secretIn(context, request, scope)));
};

/** @throws CodehostError 404, if the scope has no secret of this name */
export function secretIn(
  { store }: OperationContext,
  { params }: OperationRequest,
  scope: Scope,
): ActionSecret {
  const secret = store.get(scope, params.name ?? '');
  if (secret === undefined) throw notFound();
  return secret;
}

/** A secret as the API returns it: never with its value. */
function described({ baseUrl }: OperationContext, { organization }: Scope, secret: ActionSecret): object {
  const { name, createdAt, updatedAt, access } = secret;
  const selected = `${baseUrl}/orgs/${organization}/actions/secrets/${name}/repositories`;
  return {
    name,
    created_at: createdAt,
    updated_at: updatedAt,
    ...(access === undefined ? {} : { visibility: access.visibility }),
    ...(access?.visibility === 'selected' ? { selected_repositories_url: selected } : {}),
  };
}
