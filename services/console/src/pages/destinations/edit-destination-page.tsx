import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useLocation, useParams } from 'wouter';
import { Loading } from '../../components/loading.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { ProblemNotice } from '../../components/problem-notice.tsx';
import { useApi } from '../../session/session.ts';
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

function useChange(ref: DestinationRef) {
  const api = useApi();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  return useMutation({
    gcTime: 0, // The settings may contain credentials.
    mutationFn: async (settings: Record<string, unknown>) => {
      if (Object.keys(settings).length > 0) await writeDestination(api, 'PATCH', ref, settings);
      return replanned.some((field) => field in settings);
    },
    onSuccess: async (concernsNames) => {
      await queries.invalidateQueries({ queryKey: destinationKey(ref) });
      navigate(destinationAddress(ref, ...(concernsNames ? ['replan'] : [])));
    },
  });
}
