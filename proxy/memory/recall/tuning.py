"""Tuning constants of recall, in the order in which a score passes them.

Chosen in November 2026 on LoCoMo, BEAM 100K and RealMem with the built-in embedder, by the evidence within 500 to
2,000 tokens and the share of unrelated prompts that get any. A number without a measurement beside it has none on
record. ``make eval`` measures again.
"""

from __future__ import annotations

# Terms of a query, and the time that it names (``found``)
CONTEXT_WEIGHT = 0.35  # of a term of the query's context
IN_TIME_FACTOR = 1.2

# Memories (``sources``, ``rank.priors``, ``hits.overview``)
WORDS_WEIGHT, COSINE_WEIGHT = 0.5, 0.5  # also of chunks
SUMMARY_FACTOR = 0.4  # at 1.0 summaries displaced the turns that they sum up (LoCoMo)
CONFIDENCE_WEIGHT = 0.15  # confidence 0 gives a factor of 0.85
USE_BONUS, MAX_DOUBLINGS = 0.02, 4  # for each doubling of the uses
NEW_BONUS, NEW_HALF_LIFE_DAYS = 0.05, 30.0
PINNED_BONUS = 0.05
SIMILAR_COSINE = 0.7  # two memories this close say much the same, and the newer ranks first
LEAD_COVERAGE = 0.5  # a memory leads that covers this share of the query,
LEAD_COSINE, LEAD_COSINE_SHARE = 0.25, 0.75  # or has this cosine, and this share of the best cosine
OVERVIEW_SPREAD = 0.5  # of the cosine to chosen memories, subtracted from a memory's rank in an overview
OVERVIEW_HALF_LIFE_DAYS = 60.0
HANDFUL_SCORE = 1e-3  # of a hit that is kept only because the memory is small

# Turns (``turns``, ``rank.economy``): weights of words and cosine, then of words and cosine of the window. A short turn
# is understood by the window around it, a long one by itself, above all for a question.
SHORT_TURN_WEIGHTS = (0.1, 0.15, 0.4, 0.35)
LONG_TURN_WEIGHTS_ASKED, LONG_TURN_WEIGHTS_TOLD = (0.35, 0.45, 0.1, 0.1), (0.2, 0.4, 0.2, 0.2)
SHORT_TURN, LONG_TURN = 150, 600  # characters
SUPPORT, SUPPORTERS, BEST_TURNS = 0.25, 3, 200  # 0.2, 0.25, 0.3 were tried (record 0021)
SHORT_REPLY, LONG_REPLY = 200, 700  # characters
LONG_REPLY_DISCOUNT = 0.5  # BEAM within 500 tokens: 22 % -> 42 %; LoCoMo, whose turns are short: unchanged
QUESTION_FACTOR = 0.8  # a turn that only asks proves nothing
PIECE_FACTOR = 0.6  # of later pieces of a long message, and of all pieces of a long reply
MEANT_FACTOR = 1.3  # of the named speaker, or of users who ask about themselves; 1.4 without support (record 0021)
RECENT_BONUS, RECENT_HALF_LIFE_DAYS = 0.6, 30  # if the query states something
PREFERENCE_FACTOR, MAX_PREFERENCES = 1.2, 150  # if the query asks for advice
ANSWER_SHARE = 0.15  # of a question's score, added to the turn after it

# Diversity (``rank``): further turns of one session, and the ranks between which other sessions come first
CONVERSATION_DECAY, MIN_CONVERSATION = 0.3, 4  # over all turns of a session, of at least this number
ACROSS_DECAY = 0.85  # for each turn; BEAM: 0.8 -> 68.0, 0.85 -> 68.0, 0.9 -> 67.4 (record 0019)
OTHERS_FIRST_ASKED, OTHERS_FIRST_TOLD = (6, 10), (1, 20)

# Chunks (``chunk_source``)
FILE_FACTOR, PAGE_FACTOR, SENT_FACTOR = 1.5, 2.0, 1.6  # for a chunk named by file, by page, by time of sending
NAMED_SCORE = 0.15  # minimum of a named chunk
PROVING_WORDS = 2  # any long text has a single word in common
# A few chunks of a file do not lower the floors as a few texts of the user do. On public files, 0 of 100 unrelated
# prompts then pass with 16 chunks, 1 with 181, and all of 15 questions about them.
MIN_PASSAGES = 600

# Floors of a source, as a share of its best score: hits below it are not injected
FACT_FLOOR, TURN_FLOOR, PASSAGE_FLOOR = 0.3, 0.3, 0.5

# Evidence for the gate (``gate.weigh``)
TELLING_WEIGHT = 0.3  # minimum weight of a term that counts
COVERING_TEXTS = 3  # best texts, one of which must hold the words
LARGE_TABLE_TEXTS, SAMPLED_TEXTS = 4000, 12  # assumed size of a table too large to count in; texts read instead
PAIR_GENEROSITY = 2.0  # pairs of characters mostly straddle words
RARE_SHARE = 0.6  # of the rarity of a word in a single text

# The gate (``gate``): on four sets 98-100 % of the questions about them pass, 0-4 % of unrelated prompts
STRENGTH_FLOOR, COMPANION_FLOOR = 0.46, 0.40  # on the scale of a cosine; of the best source, of others
COVERAGE_FLOOR, PERSONAL_COVERAGE = 0.45, 0.15  # without vectors; reduction for questions about oneself
COVERAGE_WEIGHT = 0.3
USUAL_COSINE = 0.15  # of unrelated texts; an embedder that does not know a language puts all its texts close together
FAMILIAR_WEIGHT, FAMILIAR_COSINE = 0.3, 0.08  # a user's questions are closer to all of the user's texts
PERSONAL_BONUS = 0.08
BRIEF_BONUS = 0.06  # of single statements, whose cosines are lower
FULL_FLOOR_TEXTS = 600  # memory size at which the floors apply unchanged
SPREAD_BELOW, SPREAD_ABOVE = 0.055, 0.11  # of the best cosines of unrelated texts, for fewer and for more texts
UNKNOWN_COSINE = 0.2  # usual cosine from which words alone decide (record 0022)
UNKNOWN_COVERAGE = 0.15  # coverage that is needed then, for questions about oneself
HANDFUL_TEXTS = 24  # maximum size of a memory that is injected in full for questions about oneself
