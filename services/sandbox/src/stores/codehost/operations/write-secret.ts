import { jsonResponse } from '../../../simulation/http-response.ts';
import { invalid, notSupplied } from '../codehost-error.ts';
import type { Scope } from '../store/scope.ts';
import { boxKeyOf } from '../store/sealed-boxes.ts';
import {
  isoSeconds,
  noContent,
  type Operation,
  type OperationContext,
  type OperationRequest,
} from './operation.ts';
import { accessIn } from './organization-access.ts';
import { secretIn } from './read-secrets.ts';
import { writableScopeIn } from './scope-in.ts';

const maxValueBytes = 48 * 1024;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;

/** Creates (201) or overwrites (204) a secret. The value is sealed for the scope's public key. */
export const createOrUpdateSecret: Operation = async (context, request) => {
  const scope = writableScopeIn(context, request);
  const { store, nowMs } = context;
  const name = validName(request.params.name ?? '');
  const existing = store.get(scope, name);
  const access = scope.kind === 'organization' ? accessIn(context, scope, request) : undefined;
  const isAccessAlone =
    existing !== undefined &&
    access !== undefined &&
    context.takesAccessAlone &&
    request.body.encrypted_value === undefined;
  const value = isAccessAlone ? existing.value : await valueIn(context, scope, request);
  if (existing === undefined && store.in(scope).length >= scope.maxSecrets)
    throw invalid(`Too many secrets: at most ${scope.maxSecrets} are allowed.`);
  const at = isoSeconds(nowMs);
  const writes = (existing?.writes ?? 0) + (isAccessAlone ? 0 : 1);
  const createdAt = existing?.createdAt ?? at;
  store.change({
    secret: { scope: scope.key, label: scope.label, name, value, access, createdAt, updatedAt: at, writes },
  });
  return existing === undefined ? jsonResponse(201, {}) : noContent;
};

export const deleteSecret: Operation = (context, request) => {
  const scope = writableScopeIn(context, request);
  const { name } = secretIn(context, request, scope);
  context.store.change({ removed: { scope: scope.key, name } });
  return noContent;
};

function validName(given: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(given) || given.length > 255)
    throw invalid(
      'Secret names can only contain alphanumeric characters ([a-z], [A-Z], [0-9]) or underscores (_). Spaces are not allowed. Must start with a letter ([a-z], [A-Z]) or underscores (_).',
    );
  if (/^GITHUB_/i.test(given)) throw invalid('Secret names must not start with GITHUB_.');
  return given.toUpperCase();
}

async function valueIn(
  { seed, store }: OperationContext,
  scope: Scope,
  { body }: OperationRequest,
): Promise<string> {
  const { encrypted_value: sealed, key_id: keyId } = body;
  if (typeof sealed !== 'string') throw notSupplied('encrypted_value');
  if (typeof keyId !== 'string') throw notSupplied('key_id');
  if (!base64.test(sealed)) throw invalid('Invalid request.\n\nencrypted_value does not match the pattern.');
  const key = await boxKeyOf(seed, scope.key, store.keyGeneration);
  const value = keyId === key.keyId ? key.open(sealed) : undefined;
  if (value === undefined)
    throw invalid('Bad request - validation failed due to an improperly encrypted secret');
  if (Buffer.byteLength(value) > maxValueBytes) throw invalid('Secret is too large: at most 48 KB.');
  return value;
}
