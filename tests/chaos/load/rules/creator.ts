import { gatewayOf, type LoadClient, type Shared } from '../clients.ts';
import { ruledMount, ruledTypes, ruledValue, stillFolder } from './ruled.ts';

/**
 * Creates one secret after the other, each of which an unchanged rule matches. Nothing writes it again: if its match is lost,
 * nothing repairs that.
 */
export function creator({ world, recorder }: Shared, nth: number): LoadClient {
  const name = `creator-${nth + 1}`;
  let created = 0;
  return {
    name,
    pauseMs: 300,
    turn: (draw) => {
      const key = `${stillFolder(created % ruledTypes.length)}/c${nth}n${created}`;
      created += 1;
      return recorder.run(
        { act: 'add', key },
        {
          ...{ client: name, gateway: gatewayOf(world, draw), token: world.rootToken, method: 'POST' },
          ...{ path: `${ruledMount}/data/${key}`, body: { data: { value: ruledValue(world.canary, key) } } },
        },
      );
    },
  };
}
