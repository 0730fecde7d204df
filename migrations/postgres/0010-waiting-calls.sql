-- A turn is found by the calls that it waits for.
create index tool_calls_by_call_id on tool_calls (call_id);
