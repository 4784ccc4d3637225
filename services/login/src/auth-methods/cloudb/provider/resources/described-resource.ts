import { z } from 'zod';
import type { AssignedIdentity, ProviderResource } from '../provider.ts';
import { unusableResponse } from './arm-problem.ts';

const ids = z.object({ principalId: z.string().optional(), clientId: z.string().optional() });
const Identity = z.object({
  type: z.string().nullish(),
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

/** Returns the properties of a resource that a login needs. Throws `bad_gateway` if the SDK returned another form. */
export function describedResource(found: unknown): ProviderResource {
  const { id, location, identity, virtualMachineScaleSet, orchestrationMode } = parsed(Described, found);
  return {
    id,
    location,
    systemAssigned: systemAssignedOf(identity),
    userAssigned: Object.entries(identity?.userAssignedIdentities ?? {}).map(([identityId, its]) => ({
      id: identityId,
      principalId: its?.principalId ?? '',
      clientId: its?.clientId ?? '',
    })),
    scaleSetId: virtualMachineScaleSet?.id,
    orchestration: orchestrationOf(orchestrationMode),
  };
}

/** A principal that is not system-assigned could run anywhere, so the type has to say that it is. */
const systemAssignedOf = (identity: z.infer<typeof Described>['identity']): string | undefined =>
  /systemassigned/i.test(identity?.type ?? '') ? identity?.principalId || undefined : undefined;

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
  throw unusableResponse(result.error);
}

function orchestrationOf(mode: string | null | undefined): ProviderResource['orchestration'] {
  const word = mode?.toLowerCase();
  return word === 'uniform' || word === 'flexible' ? word : undefined;
}
