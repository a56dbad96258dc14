"""Numbers that decide what is recalled, in the order in which a score passes them.

Chosen in November 2026 on LoCoMo, BEAM 100K and RealMem with the built-in embedder: evidence within 500 to 2,000
tokens, and how often unrelated prompts are given any. Where no measurement stands beside a number none was written
down. ``make eval`` measures again.
"""

from __future__ import annotations

# Terms of a query, and the time that it names (``found``)
CONTEXT_WEIGHT = 0.35  # of a term of the turn before, where the query leans on it
IN_TIME_FACTOR = 1.2

# Memories (``sources``, ``rank.priors``, ``hits.overview``)
WORDS_WEIGHT, COSINE_WEIGHT = 0.5, 0.5  # of passages too
SUMMARY_FACTOR = 0.4  # at 1.0 summaries took the room of the turns that they sum up (LoCoMo)
CONFIDENCE_WEIGHT = 0.15  # a factor of 0.85 where nothing is sure
USE_BONUS, MAX_DOUBLINGS = 0.02, 4  # for each doubling of the uses
NEW_BONUS, NEW_HALF_LIFE_DAYS = 0.05, 30.0
PINNED_BONUS = 0.05
SIMILAR_COSINE = 0.7  # from here on two memories say much the same, and the newer goes first
LEAD_COVERAGE = 0.5  # a memory leads that holds so much of the query,
LEAD_COSINE, LEAD_COSINE_SHARE = 0.25, 0.75  # or is so near to it, and so near as the best
OVERVIEW_SPREAD = 0.5  # of the cosine to what is chosen already, taken off a memory's rank in an overview
OVERVIEW_HALF_LIFE_DAYS = 60.0
HANDFUL_SCORE = 1e-3  # of a memory that is kept only because there are few

# Turns (``turns``, ``rank.economy``): weights of words, cosine, words around, cosine around. A short turn is understood
# by what stands around it, a long one by itself, all the more where something is asked.
SHORT_TURN_WEIGHTS = (0.1, 0.15, 0.4, 0.35)
LONG_TURN_WEIGHTS_ASKED, LONG_TURN_WEIGHTS_TOLD = (0.35, 0.45, 0.1, 0.1), (0.2, 0.4, 0.2, 0.2)
SHORT_TURN, LONG_TURN = 150, 600  # characters
SUPPORT, SUPPORTERS, BEST_TURNS = 0.25, 3, 200  # 0.2, 0.25, 0.3 were tried (record 0021)
SHORT_REPLY, LONG_REPLY = 200, 700  # characters
LONG_REPLY_DISCOUNT = 0.5  # BEAM within 500 tokens: 22 % -> 42 %; LoCoMo, whose turns are short: unchanged
QUESTION_FACTOR = 0.8  # a turn that only asks proves nothing
PIECE_FACTOR = 0.6  # of a long message behind its beginning, and of a long reply
MEANT_FACTOR = 1.3  # of whom the query names, or of users who ask of themselves; 1.4 without support (record 0021)
RECENT_BONUS, RECENT_HALF_LIFE_DAYS = 0.6, 30  # where something is told
PREFERENCE_FACTOR, MAX_PREFERENCES = 1.2, 150  # where advice is asked for
ANSWER_SHARE = 0.15  # of a question's score, for the turn behind it

# Diversity (``rank``): further turns of one conversation, and the places between which others come first
CONVERSATION_DECAY, MIN_CONVERSATION = 0.3, 4  # over all of its turns, at least so many
ACROSS_DECAY = 0.85  # for each turn; BEAM: 0.8 -> 68.0, 0.85 -> 68.0, 0.9 -> 67.4 (record 0019)
OTHERS_FIRST_ASKED, OTHERS_FIRST_TOLD = (6, 10), (1, 20)

# Passages (``chunk_source``)
FILE_FACTOR, PAGE_FACTOR, SENT_FACTOR = 1.5, 2.0, 1.6  # named by its file, its page, the time when it was sent
NAMED_SCORE = 0.15  # at least, of what is named
PROVING_WORDS = 2  # a single word in common is soon found in a long text
# A few passages of a file earn no lenience as a few of the user's own words do. On public files then 0 of 100 unrelated
# prompts pass beside 16 passages, 1 beside 181, and all of 15 questions about them.
MIN_PASSAGES = 600

# Floors of a source, as a share of its best score: hits below are considered only
FACT_FLOOR, TURN_FLOOR, PASSAGE_FLOOR = 0.3, 0.3, 0.5

# Evidence for the gate (``gate.weigh``)
TELLING_WEIGHT = 0.3  # of a term, from which on it counts
COVERING_TEXTS = 3  # one of which must hold the words
LARGE_TABLE_TEXTS, SAMPLED_TEXTS = 4000, 12  # where a table is too large to count in; those that are read instead
PAIR_GENEROSITY = 2.0  # pairs of characters mostly straddle words
RARE_SHARE = 0.6  # of the rarity of a word that one text holds

# The gate (``gate``): on four sets 98-100 % of the questions about them pass, 0-4 % of unrelated prompts
STRENGTH_FLOOR, COMPANION_FLOOR = 0.46, 0.40  # on the scale of a cosine; of the best source, of one beside it
COVERAGE_FLOOR, PERSONAL_COVERAGE = 0.45, 0.15  # without vectors; how much lower where the user asks of themselves
COVERAGE_WEIGHT = 0.3
USUAL_COSINE = 0.15  # of unrelated texts; one that does not know a language puts all its texts close together
FAMILIAR_WEIGHT, FAMILIAR_COSINE = 0.3, 0.08  # what its owner asks is nearer to all that was said
PERSONAL_BONUS = 0.08
BRIEF_BONUS = 0.06  # of single statements, whose cosines are lower
FULL_FLOOR_TEXTS = 600  # where the floors hold as they are
SPREAD_BELOW, SPREAD_ABOVE = 0.055, 0.11  # of the best cosines of unrelated texts, for fewer and for more texts
UNKNOWN_COSINE = 0.2  # usual cosine from which on words decide (record 0022)
UNKNOWN_COVERAGE = 0.15  # the coverage that it takes then, where the user asks of themselves
HANDFUL_TEXTS = 24  # few enough to be given whole to who asks of themselves
