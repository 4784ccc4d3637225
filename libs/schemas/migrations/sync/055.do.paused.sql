-- What is paused is counted for the metrics.
create index lanes_paused on sync.lanes (destination_type) where failures > 0;
create index destinations_paused on sync.destination_health (destination_type) where failures > 0;
