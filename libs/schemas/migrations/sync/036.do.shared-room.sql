-- The destinations of a small scope share its room: a removal in one of them makes entries due that found no room in another one.
create index destinations_of_small_scope on sync.destinations (scope_id) where type in ('codehost', 'webhost-project');
