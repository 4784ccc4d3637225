import { Link, useParams } from 'wouter';
import { Loading } from '../../components/loading.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { ProblemNotice } from '../../components/problem-notice.tsx';
import {
  type DestinationRef,
  destinationAddress,
  destinationKey,
  settingsOf,
  useDestination,
  writeDestination,
} from './destination-api.ts';
import { DestinationForm } from './form/destination-form.tsx';
import { destinationTypes } from './form/destination-types.ts';
import { useSave } from './form/use-save.ts';

/** Fields whose change affects only new associations until a replan. */
const replanned = ['secret_name_template', 'granularity'];

/** Changes the settings of a destination. */
export function EditDestinationPage() {
  const { type = '', name = '' } = useParams();
  const ref = { type, name };
  const { data, error, refetch } = useDestination(ref);
  const change = useChange(ref);
  return (
    <>
      <PageHeader title={`Edit ${name}`}>
        What failed because of the settings is retried when they are saved. A changed template or granularity
        applies to new associations; the next page then shows what it would change in the existing ones.
      </PageHeader>
      {error && !data && (
        <ProblemNotice title="The destination could not be read." error={error} onRetry={() => refetch()} />
      )}
      {!data && !error && <Loading what="the destination" />}
      {data && (
        <DestinationForm
          fields={destinationTypes[type] ?? []}
          stored={settingsOf(data)}
          submitLabel="Save"
          isPending={change.isPending}
          error={change.error}
          onSubmit={(settings) => change.mutate(settings)}
        />
      )}
      <p>
        <Link href={destinationAddress(ref)}>Back without saving</Link>
      </p>
    </>
  );
}

const useChange = (ref: DestinationRef) =>
  useSave(destinationKey(ref), async (api, settings) => {
    if (Object.keys(settings).length > 0) await writeDestination(api, 'PATCH', ref, settings);
    const concernsNames = replanned.some((field) => field in settings);
    return destinationAddress(ref, ...(concernsNames ? ['replan'] : []));
  });
