import { z } from 'zod';
import type { AssignedIdentity, ProviderResource } from '../provider.ts';
import { notUsable } from './arm-problem.ts';

const ids = z.object({ principalId: z.string().optional(), clientId: z.string().optional() });
const Identity = z.object({
  principalId: z.string().optional(),
  userAssignedIdentities: z.record(z.string(), ids.nullish()).nullish(),
});
const Described = z.object({
  id: z.string().min(1),
  location: z.string().default(''),
  identity: Identity.nullish(),
  virtualMachineScaleSet: z.object({ id: z.string().optional() }).nullish(),
  orchestrationMode: z.string().nullish(),
});

/** What a login needs of a resource as the SDK returns it. Throws `bad_gateway` if it has another form. */
export function describedResource(found: unknown): ProviderResource {
  const { id, location, identity, virtualMachineScaleSet, orchestrationMode } = parsed(Described, found);
  return {
    id,
    location,
    systemAssigned: identity?.principalId || undefined,
    userAssigned: Object.entries(identity?.userAssignedIdentities ?? {}).map(([identityId, its]) => ({
      id: identityId,
      principalId: its?.principalId ?? '',
      clientId: its?.clientId ?? '',
    })),
    scaleSetId: virtualMachineScaleSet?.id,
    orchestration: orchestrationOf(orchestrationMode),
  };
}

const DescribedIdentity = z.object({
  id: z.string().min(1),
  principalId: z.string().min(1),
  clientId: z.string().min(1),
});

/** A user-assigned identity as the SDK returns it. Throws `bad_gateway` if it has another form. */
export const describedIdentity = (found: unknown): AssignedIdentity => parsed(DescribedIdentity, found);

function parsed<Schema extends z.ZodType>(schema: Schema, found: unknown): z.infer<Schema> {
  const result = schema.safeParse(found);
  if (result.success) return result.data;
  throw notUsable(result.error);
}

function orchestrationOf(mode: string | null | undefined): ProviderResource['orchestration'] {
  const word = mode?.toLowerCase();
  return word === 'uniform' || word === 'flexible' ? word : undefined;
}
