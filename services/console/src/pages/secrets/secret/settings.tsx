import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { CheckboxField } from '../../../components/fields/checkbox-field.tsx';
import { TextField } from '../../../components/fields/text-field.tsx';
import { ProblemNotice } from '../../../components/problem-notice.tsx';
import { usePermissions } from '../../../session/permissions.ts';
import { useApi } from '../../../session/session.ts';
import { useUnsavedInput } from '../../../session/unsaved-input.ts';
import type { SecretMetadata, SecretRef } from '../queries.ts';
import { DeleteSecret } from './delete-secret.tsx';
import type { SecretPaths } from './secret-paths.ts';
import { PairFields } from './write/pair-fields.tsx';

interface SettingsProps {
  secret: SecretRef;
  paths: SecretPaths;
  metadata: SecretMetadata;
}

/** The settings of a secret, and its deletion. */
export function SecretSettings(props: SettingsProps) {
  const { paths, metadata } = props;
  const { may } = usePermissions([paths.metadata]);
  return (
    <section aria-label="Metadata">
      <h2>Metadata</h2>
      {may('update', paths.metadata) ? (
        <SettingsForm key={JSON.stringify(fieldsOf(metadata))} {...props} />
      ) : (
        <dl className="pairs">
          {Object.entries(metadata.custom_metadata ?? {}).map(([key, value]) => (
            <div key={key}>
              <dt>{key}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {may('delete', paths.metadata) && <DeleteSecret secret={props.secret} metadata={metadata} />}
    </section>
  );
}

/** The settings as the fields of the form have them. They do not change with a new version. */
const fieldsOf = (metadata: SecretMetadata) => ({
  maxVersions: String(metadata.max_versions),
  casRequired: metadata.cas_required,
  deleteAfter: metadata.delete_version_after,
  custom: Object.entries(metadata.custom_metadata ?? {}).map(([key, value]) => ({ key, value })),
});

function useSettings({ secret, metadata }: SettingsProps) {
  const api = useApi();
  const queries = useQueryClient();
  const [fields, setFields] = useState(() => fieldsOf(metadata));
  useUnsavedInput(JSON.stringify(fields) !== JSON.stringify(fieldsOf(metadata)));
  const save = useMutation({
    mutationFn: () =>
      api.POST('/v1/{mount}/metadata/{path}', {
        params: { path: { mount: secret.mount, path: secret.name } },
        body: {
          max_versions: Number(fields.maxVersions),
          cas_required: fields.casRequired,
          delete_version_after: fields.deleteAfter || '0s',
          custom_metadata: Object.fromEntries(
            fields.custom.filter(({ key }) => key !== '').map(({ key, value }) => [key, value]),
          ),
        },
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['secrets', 'metadata'] }),
  });
  const set = (changed: Partial<typeof fields>) => setFields({ ...fields, ...changed });
  return { fields, set, save };
}

function SettingsForm(props: SettingsProps) {
  const { fields, set, save } = useSettings(props);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <form className="stack" onSubmit={submit}>
      <TextField
        label="Versions to keep"
        help="0 for the setting of the mount. With more, the oldest ones are erased."
        inputMode="numeric"
        value={fields.maxVersions}
        onChange={(maxVersions) => set({ maxVersions })}
      />
      <TextField
        label="Delete versions after"
        help="A duration such as 720h; 0s for never."
        value={fields.deleteAfter}
        onChange={(deleteAfter) => set({ deleteAfter })}
      />
      <CheckboxField
        label="Require check-and-set for every write."
        isSelected={fields.casRequired}
        onChange={(casRequired) => set({ casRequired })}
      />
      <fieldset className="stack">
        <legend>Custom metadata, which is not secret</legend>
        <PairFields
          isPlain
          pairs={fields.custom}
          onChange={(custom) => set({ custom: custom.map((pair) => ({ ...pair })) })}
        />
      </fieldset>
      {save.error && <ProblemNotice title="The metadata was not saved." error={save.error} />}
      <div>
        <Button type="submit" isPending={save.isPending}>
          Save the metadata
        </Button>
      </div>
    </form>
  );
}
