"""Every limit and default of the service, each with its reason.

Names follow the tool reference where it gives one. Sizes are in bytes of UTF-8
unless the name says otherwise.
"""

from typing import Final

# Ids
MAX_ID: Final = 2**64 - 1  # ids are unsigned 64-bit on the wire

# JSON
MAX_JSON_DEPTH: Final = 100  # deeper than any metadata; keeps every recursive reader safe

# Facts
MAX_EMBEDDABLE_TEXT_BYTES: Final = 2048  # about one embedding model's context window
MAX_FACT_BYTES: Final = 1 << 20  # raw text of remember_extracted, and one stored source
MAX_METADATA_BYTES: Final = 64 << 10  # serialised; metadata is for filtering, not for content
MAX_RELATION_BYTES: Final = 512  # a label, not a sentence
MAX_TTL_SECONDS: Final = 200_000_000_000  # later than the year 8000, where calendars end

# Recall
DEFAULT_RECALL_LIMIT: Final = 10
MAX_RECALL_LIMIT: Final = 1000
MAX_QUERY_BYTES: Final = 1 << 20  # only the embedder's window of it is embedded
MAX_PREDICATES: Final = 64  # each costs one index range
RECALL_POOL_FACTOR: Final = 4  # confidence re-orders a pool of max(4k, 64), not just the k
RECALL_POOL_FLOOR: Final = 64
FUSED_POOL_FACTOR: Final = 8  # default pool of recall_fused: max(8k, 64)
DEFAULT_FUSED_HOPS: Final = 2
DEFAULT_GRAPH_BOOST: Final = 0.15

# Walks
DEFAULT_WHY_HOPS: Final = 2
MAX_WHY_HOPS: Final = 10
MAX_WHY_NODE_DEGREE: Final = 64  # outgoing edges followed from one node
MAX_WHY_NODES: Final = 500
MAX_WHY_EDGES: Final = 2000

# Entities
MAX_ENTITY_RELATIONS: Final = 64  # resolved edges a direction
MAX_ENTITY_SCAN_EDGES: Final = 4096  # the reference's window of raw edges; an index needs none
MAX_ENTITY_NAME_BYTES: Final = 512

# Feedback
INITIAL_CONFIDENCE: Final = 0.5
CONFIDENCE_REWARD: Final = 0.1
CONFIDENCE_PENALTY: Final = 0.05

# Listing
DEFAULT_LIST_LIMIT: Final = 50
MAX_LIST_LIMIT: Final = 1000

# Extraction
MAX_IDEMPOTENCY_KEY_BYTES: Final = 256
MAX_PENDING_EXTRACTIONS: Final = 64
MAX_EXTRACTION_BYTES: Final = 4 << 20  # a model's answer; more is no extraction
MAX_AUTOGRAPH_QUEUE: Final = 256  # beyond it facts are counted as dropped, never waited for

# Context compiler
MAX_FRAGMENTS: Final = 1024
MAX_TOKEN_BUDGET: Final = 10_000_000
MAX_TRANSCRIPT_BYTES: Final = 8 << 20
MAX_TRANSCRIPT_SEGMENTS: Final = 32 << 10  # the largest transcript in default minimum segments
MAX_INGEST_FILES: Final = 64
MAX_INGEST_FILE_BYTES: Final = 1 << 20
MAX_INGEST_TOTAL_BYTES: Final = 64 << 20
MIN_CHUNK_BYTES: Final = 256
DEFAULT_CHUNK_BYTES: Final = 2048
DEFAULT_SEGMENT_BYTES: Final = 256
RETRIEVE_WARNING_RELEVANCE: Final = 0.35
DEFAULT_CONFIDENCE_WEIGHT: Final = 0.2
DEFAULT_RECENCY_WEIGHT: Final = 0.1

# Working contexts
MAX_WORKING_CONTEXT_BYTES: Final = 1 << 20

# Migration
DEFAULT_JOURNAL_BYTES: Final = 64 << 20
DEFAULT_FACT_BATCH: Final = 256
DEFAULT_REPLAY_BATCH: Final = 256
DEFAULT_EDGE_CAP: Final = 4096
DEFAULT_OBSERVATION_WINDOW: Final = 3
DEFAULT_VERIFICATION_RESERVE_MS: Final = 100
MAX_WORK_LIMIT: Final = 2**53 - 1  # of any of them: a database counts no further than 2^63
