import type { PrometheusApi } from './prometheus-api.ts';
import { dashboardQueries } from './sources.ts';

/** The queries of the dashboard that return no number at the moment. */
export async function queriesWithoutData(
  prometheus: PrometheusApi,
): Promise<{ panel: string; query: string }[]> {
  const all = await Promise.all(
    dashboardQueries('1m').map(async (one) => ({ ...one, samples: await prometheus.query(one.query) })),
  );
  return all
    .filter(({ samples }) => !samples.some(({ value }) => Number.isFinite(Number(value[1]))))
    .map(({ panel, query }) => ({ panel, query }));
}
