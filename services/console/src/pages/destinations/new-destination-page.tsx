import { useState } from 'react';
import { type Api, ifPresent } from '../../api/client.ts';
import { ApiProblem, Refusal } from '../../api/problem.ts';
import { SelectField } from '../../components/fields/select-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { NotAllowed } from '../../components/problem-notice.tsx';
import { usePermissions } from '../../session/permissions.ts';
import { useUnsavedInput } from '../../session/unsaved-input.ts';
import {
  type DestinationRef,
  destinationAddress,
  destinationPath,
  writeDestination,
} from './destination-api.ts';
import { DestinationForm } from './form/destination-form.tsx';
import { destinationTypes, typeNames } from './form/destination-types.ts';
import { useSave } from './form/use-save.ts';

const types = Object.keys(destinationTypes).map((type) => ({
  value: type,
  label: `${type} (${typeNames[type] ?? type})`,
}));

/** Creates a destination. Nothing is sent to the store until a secret is associated or the credentials are checked. */
export function NewDestinationPage() {
  const [type, setType] = useState(types[0]?.value ?? '');
  const [name, setName] = useState('');
  useUnsavedInput(name !== '');
  const path = destinationPath({ type, name: name || 'any' });
  const { may, known } = usePermissions([path]);
  const isRefused = known && name !== '' && !may('create', path);
  const creation = useCreation({ type, name });
  return (
    <>
      <PageHeader title="New destination">
        An external store, and the credentials with which secrets are written to it.
      </PageHeader>
      <div className="stack destination-form">
        <SelectField label="Type" value={type} choices={types} onChange={setType} />
        <TextField
          label="Name"
          help="1 to 128 letters, digits, . _ or -. It cannot be changed later."
          value={name}
          onChange={setName}
          isRequired
        />
        {isRefused && (
          <NotAllowed what="This token may not create this destination." capability="create" path={path} />
        )}
        <DestinationForm
          key={type}
          fields={destinationTypes[type] ?? []}
          submitLabel="Create"
          isPending={creation.isPending}
          isDisabled={name === '' || isRefused}
          error={creation.error}
          onSubmit={(settings) => creation.mutate(settings)}
        />
      </div>
    </>
  );
}

const useCreation = (ref: DestinationRef) =>
  useSave(['sync'], async (api, settings) => {
    await requireNew(api, ref);
    await writeDestination(api, 'POST', ref, settings);
    return destinationAddress(ref);
  });

/**
 * The request that creates a destination would change an existing one of the name. Without the right to read it, the
 * service decides.
 */
async function requireNew(api: Api, path: DestinationRef): Promise<void> {
  const existing = await ifPresent(
    api.GET('/v1/sys/sync/destinations/{type}/{name}', { params: { path } }),
  ).catch((error: unknown) => {
    if (error instanceof ApiProblem && error.status === 403) return undefined;
    throw error;
  });
  if (existing !== undefined) throw new Refusal(`There already is a destination ${path.name} of this type.`);
}
